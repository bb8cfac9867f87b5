//! HTTP on a socket: bytes to requests, answers to bytes, with limits on size, time and number. Knows nothing of calls.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::body::{Body, Bytes, Frame, Incoming};
use hyper::header::{CONTENT_TYPE, HOST, HeaderMap, HeaderName, HeaderValue, ORIGIN};
use hyper::service::service_fn;
use hyper::{Method, Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, mpsc};
use tokio::time::timeout;
use tokio_rustls::TlsAcceptor;

use super::events;
use super::exchange::{Answer, Ask, Refusal, decoded, query};
use super::gate::Claims;
use super::room::Room;
use super::routes;

/// Connections at once. A browser opens six, so this is room for dozens of them.
const CONNECTIONS: usize = 1_024;

/// Requests that are worked on at once; the others wait.
const AT_WORK: usize = 6;

/// A client that needs longer for its headers, its body or its greeting is cut off.
const SLOW: Duration = Duration::from_secs(10);

/// No connection lasts longer; browsers open the next one by themselves.
const LONGEST: Duration = Duration::from_secs(15 * 60);

/// More than any answer or filter has.
const BODY: usize = 64 << 10;

/// Accepts connections until the process ends.
pub(super) async fn accept(listener: TcpListener, tls: Option<TlsAcceptor>, room: Arc<Room>) {
    let (seats, workers) = (Arc::new(Semaphore::new(CONNECTIONS)), Arc::new(Semaphore::new(AT_WORK)));
    loop {
        let Ok((stream, peer)) = listener.accept().await else {
            // Out of descriptors; without a pause the loop would spin until some are free.
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        // Beyond the limit the connection is closed at once; waiting would only hold more of them.
        let Ok(seat) = Arc::clone(&seats).try_acquire_owned() else { continue };
        let (tls, room, workers) = (tls.clone(), Arc::clone(&room), Arc::clone(&workers));
        tokio::task::spawn_local(async move {
            let _seat = seat;
            welcome(stream, peer, tls, (room, workers)).await;
        });
    }
}

type House = (Arc<Room>, Arc<Semaphore>);

async fn welcome(stream: TcpStream, peer: SocketAddr, tls: Option<TlsAcceptor>, house: House) {
    // A browser of this machine that uses its address in the network comes from that same address.
    let is_local = peer.ip().is_loopback() || stream.local_addr().is_ok_and(|own| own.ip() == peer.ip());
    match tls {
        None => converse(stream, is_local, house).await,
        Some(tls) => {
            if let Ok(Ok(stream)) = timeout(SLOW, tls.accept(stream)).await {
                converse(stream, is_local, house).await;
            }
        }
    }
}

async fn converse<S: AsyncRead + AsyncWrite + Unpin + 'static>(stream: S, is_local: bool, house: House) {
    let service = service_fn(|request| {
        let house = (Arc::clone(&house.0), Arc::clone(&house.1));
        async move { Ok::<_, Infallible>(respond(request, is_local, house).await) }
    });
    let connection = hyper::server::conn::http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(SLOW)
        .max_buf_size(32 << 10)
        .serve_connection(TokioIo::new(stream), service);
    // However it ends, there is nobody left to tell.
    let _ = timeout(LONGEST, connection).await;
}

async fn respond(request: Request<Incoming>, is_local: bool, (room, workers): House) -> Response<Reply> {
    let (head, body) = request.into_parts();
    let is_post = head.method == Method::POST;
    if !is_post && head.method != Method::GET && head.method != Method::HEAD {
        return sent(Refusal::new(405, "only GET and POST").answer(), false);
    }
    let is_head = head.method == Method::HEAD;
    let path = decoded(head.uri.path(), false);
    let origin = match room.gate.admit(&claims(&head.headers, is_post, routes::is_page(&path))) {
        Ok(origin) => origin,
        Err(refusal) => return sent(refusal.answer(), is_head),
    };
    let body = match timeout(SLOW, read(body)).await {
        Ok(Some(body)) => body,
        Ok(None) => return sent(Refusal::new(413, "the body is too large").answer(), is_head),
        Err(_) => return sent(Refusal::new(408, "the body took too long").answer(), is_head),
    };
    let token = bearer(&head.headers).map(str::to_owned);
    let query = query(head.uri.query().unwrap_or_default());
    let mut ask = Ask { is_post, path, query, body, origin, is_local, visitor: None };
    let Ok(_worker) = workers.acquire_owned().await else { return sent(Refusal::not_found().answer(), is_head) };
    let at_work = Arc::clone(&room);
    let answered = tokio::task::spawn_blocking(move || {
        ask.visitor = token.and_then(|token| at_work.visitor(&token));
        let is_listening = ask.path == "/events" && !ask.is_post && !is_head && ask.visitor.is_some();
        (routes::answer(&at_work, &ask), is_listening.then_some(ask.visitor).flatten())
    });
    match answered.await {
        Ok((_, Some(visitor))) => listening(events::subscribe(&room, &visitor)),
        Ok((answer, None)) => sent(answer, is_head),
        Err(_) => sent(Refusal::new(500, "it hit an internal error").answer(), is_head),
    }
}

fn claims(headers: &HeaderMap, is_post: bool, is_page: bool) -> Claims<'_> {
    let text = |name: &HeaderName| headers.get(name).and_then(|value| value.to_str().ok());
    // Two of them leave open which one counts, so they count as none.
    let host = Some(HOST)
        .filter(|name| headers.get_all(name).iter().count() == 1)
        .and_then(|name| headers.get(name).and_then(|value| value.to_str().ok()));
    Claims {
        host,
        origin: headers.contains_key(ORIGIN).then(|| text(&ORIGIN).unwrap_or("null")),
        site: headers.get("sec-fetch-site").map(|value| value.to_str().unwrap_or("cross-site")),
        content_type: text(&CONTENT_TYPE),
        is_post,
        is_page,
    }
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    headers.get("authorization")?.to_str().ok()?.strip_prefix("Bearer ")
}

async fn read(mut body: Incoming) -> Option<Vec<u8>> {
    use http_body_util::BodyExt;
    let mut bytes = Vec::new();
    while let Some(frame) = body.frame().await {
        if let Ok(data) = frame.ok()?.into_data() {
            bytes.extend_from_slice(&data);
        }
        if bytes.len() > BODY {
            return None;
        }
    }
    Some(bytes)
}

/// A body that is there at once, or that comes as events happen.
pub(super) enum Reply {
    Whole(Option<Bytes>),
    Events(mpsc::Receiver<String>),
}

impl Body for Reply {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        match self.get_mut() {
            Reply::Whole(bytes) => Poll::Ready(bytes.take().map(|bytes| Ok(Frame::data(bytes)))),
            Reply::Events(events) => {
                events.poll_recv(context).map(|event| event.map(|event| Ok(Frame::data(Bytes::from(event)))))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        matches!(self, Reply::Whole(None))
    }
}

fn sent(answer: Answer, is_head: bool) -> Response<Reply> {
    let body = if is_head || answer.body.is_empty() { None } else { Some(Bytes::from(answer.body)) };
    dressed(Reply::Whole(body), answer.status, answer.kind)
}

fn listening(events: mpsc::Receiver<String>) -> Response<Reply> {
    dressed(Reply::Events(events), 200, "text/event-stream")
}

fn dressed(body: Reply, status: u16, kind: &'static str) -> Response<Reply> {
    let mut response = Response::new(body);
    *response.status_mut() = hyper::StatusCode::from_u16(status).unwrap_or(hyper::StatusCode::INTERNAL_SERVER_ERROR);
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    for (name, value) in [
        ("content-security-policy", doorward_pages::CONTENT_POLICY),
        ("cache-control", "no-store"),
        ("cross-origin-opener-policy", "same-origin"),
        ("cross-origin-resource-policy", "same-origin"),
        ("referrer-policy", "no-referrer"),
        ("x-content-type-options", "nosniff"),
        ("x-frame-options", "DENY"),
    ] {
        headers.insert(HeaderName::from_static(name), HeaderValue::from_static(value));
    }
    response
}

// The desk's script: signs in, fetches what the server rendered, signs answers with a key that cannot leave this browser.
"use strict";
(() => {
  const one = (what, within = document) => within.querySelector(what);
  const main = () => one("#main");
  const encode = (text) => new TextEncoder().encode(text);
  const base64 = (bytes) => btoa(String.fromCharCode(...new Uint8Array(bytes)));
  // Only what our own server rendered and escaped comes through here.
  const trusted = window.trustedTypes?.createPolicy("desk", { createHTML: (html) => html }) ?? { createHTML: (html) => html };
  const nodes = (html) => [...new DOMParser().parseFromString(trusted.createHTML(html), "text/html").body.childNodes];
  const make = (name, text, more = {}) => Object.assign(document.createElement(name), { textContent: text, ...more });

  let noteTimer;
  const note = (text, stays) => {
    clearTimeout(noteTimer);
    one("#note").textContent = text;
    if (text && !stays) noteTimer = setTimeout(() => note(""), 6000);
  };

  // --- The device's key: kept by the browser, never readable.
  const ALGORITHMS = {
    ed25519: { name: "Ed25519" },
    p256: { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" },
  };
  const store = (mode, act) => new Promise((done, fail) => {
    const opening = indexedDB.open("doorward", 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore("keys");
    opening.onerror = () => fail(opening.error);
    opening.onsuccess = () => {
      const request = act(opening.result.transaction("keys", mode).objectStore("keys"));
      request.onsuccess = () => done(request.result);
      request.onerror = () => fail(request.error);
    };
  });
  const ownKey = () => store("readonly", (keys) => keys.get("device"));
  const newKey = async () => {
    for (const algorithm of ["ed25519", "p256"]) {
      try {
        const pair = await crypto.subtle.generateKey(ALGORITHMS[algorithm], false, ["sign", "verify"]);
        const raw = base64(await crypto.subtle.exportKey("raw", pair.publicKey));
        return { algorithm, sign: pair.privateKey, key: raw };
      } catch { /* an older browser: the next one */ }
    }
    throw new Error("this browser can't make a signing key; it needs HTTPS, or the address 127.0.0.1");
  };
  const signed = async (key, text) => base64(await crypto.subtle.sign(ALGORITHMS[key.algorithm], key.sign, encode(text)));

  // --- Talking to the server. There is no cookie: without the token of this origin nothing is readable.
  let token = sessionStorage.getItem("token") ?? localStorage.getItem("token");
  const keep = (given, where) => { token = given; where.setItem("token", given); };
  const drop = () => { token = null; sessionStorage.removeItem("token"); localStorage.removeItem("token"); };
  const ask = async (path, body) => {
    const headers = { Accept: "application/json" };
    if (token) headers.Authorization = `Bearer ${token}`;
    if (body) headers["Content-Type"] = "application/json";
    const reply = await fetch(path, { method: body ? "POST" : "GET", headers, body: body && JSON.stringify(body), credentials: "omit" });
    if (reply.status === 401) drop();
    if (!reply.ok) {
      const said = await reply.json().catch(() => ({}));
      throw Object.assign(new Error(said.error ?? `the server answered ${reply.status}`), { status: reply.status });
    }
    return reply;
  };
  const json = async (path, body) => (await ask(path, body)).json();
  const signIn = async () => {
    const key = await ownKey().catch(() => undefined);
    if (!key?.device) return false;
    const { statement } = await json("/api/v1/login/challenge", { device: key.device });
    const meant = JSON.parse(statement);
    if (meant.doorward !== "login 1" || meant.origin !== location.origin) throw new Error("the server asked to sign something else");
    keep((await json("/api/v1/login", { statement, signature: await signed(key, statement) })).token, sessionStorage);
    return true;
  };
  const withToken = async (act) => {
    if (!token && !(await signIn())) throw Object.assign(new Error("locked"), { status: 401 });
    try {
      return await act();
    } catch (error) {
      if (error.status !== 401 || !(await signIn())) throw error;
      return act();
    }
  };

  // --- Showing what the server rendered.
  // Where each card is, and since when: a press that was meant for what stood there before must not count.
  let stands = new Map();
  const settle = () => {
    const before = stands;
    stands = new Map([...document.querySelectorAll(".card")].map((card) => {
      const [top, known] = [card.offsetTop, before.get(card.id)];
      return [card.id, known?.top === top ? known : { top, since: performance.now() }];
    }));
  };
  const query = new URLSearchParams(location.search);
  const view = () => `/view${location.pathname === "/" ? "/queue" : location.pathname}?${query}`;
  const locked = () => {
    const place = make("p", "Nothing is readable without a start link or a paired device. In a terminal on this machine, run ");
    place.append(make("code", "doorward serve --link"), " to look, or ", make("code", "doorward serve --pair"), " to answer from here.");
    main().replaceChildren(make("h1", "This desk is locked"), place);
  };
  const open = () => new Set([...document.querySelectorAll(".card details[open]")].map((part) => part.closest(".card").id));
  const show = async (quiet) => {
    try {
      const html = await withToken(async () => (await ask(view())).text());
      document.body.classList.toggle("unpaired", !(await ownKey().catch(() => undefined))?.device);
      const [opened, focused, scroll] = [open(), document.activeElement?.closest?.(".card")?.id, window.scrollY];
      const fresh = nodes(html);
      main().replaceChildren(...fresh);
      for (const id of opened) one(`#${CSS.escape(id)} details`)?.setAttribute("open", "");
      settle();
      if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
      window.scrollTo(0, scroll);
      if (!quiet) note("");
      return true;
    } catch (error) {
      if (error.status === 401) locked(); else note(`Can't load this page: ${error.message}`, true);
      return false;
    }
  };
  const countDown = () => {
    for (const left of document.querySelectorAll("[data-left]")) {
      const seconds = Math.max(0, Number(left.dataset.left) - 1);
      left.dataset.left = seconds;
      left.textContent = seconds ? `${seconds} s left` : "no longer waits";
    }
  };
  // Events come through fetch, because EventSource sends no token.
  const listen = async () => {
    for (let pause = 500; ; pause = Math.min(pause * 2, 8000)) {
      try {
        const reply = await withToken(() => ask("/events"));
        const lines = reply.body.pipeThrough(new TextDecoderStream()).getReader();
        if (pause > 500 && await show(true)) note("Connected again.");
        pause = 500;
        for (let rest = ""; ;) {
          const { value, done } = await lines.read();
          if (done) break;
          const parts = (rest + value).split("\n\n");
          rest = parts.pop();
          if (live() && parts.some((part) => part.includes(`event: ${live()}`))) await show(true);
        }
      } catch (error) {
        if (error.status === 401) return locked();
        note("The desk can't be reached; trying again.", true);
      }
      await new Promise((done) => setTimeout(done, pause));
    }
  };
  const live = () => ["/", "/queue"].includes(location.pathname) || location.pathname.startsWith("/queue/") ? "queue" : "";

  // --- Answering. What is signed must be what the card shows.
  const MOMENT = 400;
  const offered = (offer) => new Promise((done) => {
    const dialog = make("dialog", "");
    const field = make("input", "", { autocomplete: "off", required: true });
    const label = make("label", `Type ${offer.word} to confirm`);
    const form = make("form", "", { method: "dialog" });
    const yes = make("button", "Confirm", { className: "yes", type: "button" });
    const no = make("button", "Cancel", { type: "button" });
    label.append(field);
    form.append(label, yes, no);
    dialog.setAttribute("aria-label", "second step");
    dialog.append(...offer.lines.map((line) => make("p", line)), form);
    const end = (word) => { dialog.close(); dialog.remove(); done(word); };
    form.addEventListener("submit", (event) => event.preventDefault());
    yes.addEventListener("click", (event) => event.isTrusted && end(field.value));
    no.addEventListener("click", () => end(null));
    dialog.addEventListener("cancel", () => end(null));
    document.body.append(dialog);
    dialog.showModal();
    field.focus();
  });
  const answer = async (card, verdict) => {
    // A program that drives this browser is not a person, whatever it clicks.
    if (navigator.webdriver) throw new Error("a program drives this browser, so it can't answer; use `doorward review`");
    const key = await ownKey();
    if (!key?.device) throw new Error("this browser is not paired; run `doorward serve --pair` in a terminal");
    const id = card.dataset.id;
    let word = "";
    if (verdict === "trust" || verdict === "always") {
      word = await offered(await withToken(() => json(`/api/v1/queue/${id}/offer`, { verdict })));
      if (word === null) return "";
    }
    const { statement } = await withToken(() => json(`/api/v1/queue/${id}/challenge`, { verdict, word }));
    const meant = JSON.parse(statement);
    const shown = { doorward: "answer 1", origin: location.origin, device: key.device, verdict, word, ...card.dataset };
    for (const name of ["doorward", "origin", "device", "verdict", "word", "id", "decision", "call", "cwd", "effects", "operands", "policy"]) {
      if (String(meant[name] ?? "") !== String(shown[name] ?? "")) throw new Error("this call changed since it was shown; look again");
    }
    return (await withToken(async () => json("/api/v1/answers", { statement, signature: await signed(key, statement) }))).message;
  };
  const press = async (event, card, verdict) => {
    if (!event.isTrusted || !card) return;
    if (performance.now() - (stands.get(card.id)?.since ?? performance.now()) < MOMENT) return note("The list just changed; look again.");
    for (const button of card.querySelectorAll("button")) button.disabled = true;
    try {
      note(await answer(card, verdict));
    } catch (error) {
      note(`Not done: ${error.message}`, true);
    }
    await show(true);
  };
  document.addEventListener("click", (event) => {
    const button = event.target.closest?.("button");
    if (!button) return;
    if (button.dataset.verdict) press(event, button.closest(".card"), button.dataset.verdict);
    if (button.dataset.more !== undefined) { query.set("limit", 50 + Number(query.get("limit") ?? 50)); show(); }
  });
  document.addEventListener("submit", (event) => {
    const form = event.target.closest("form[data-filter]");
    if (!form) return;
    event.preventDefault();
    const fields = [...new FormData(form)].filter(([, value]) => value);
    location.assign(`${location.pathname}?${new URLSearchParams(fields)}`);
  });
  document.addEventListener("click", async (event) => {
    const link = event.target.closest?.("a[data-download]");
    if (!link) return;
    event.preventDefault();
    const blob = await withToken(async () => (await ask(link.getAttribute("href"))).blob()).catch((error) => note(error.message));
    if (blob) make("a", "", { href: URL.createObjectURL(blob), download: link.dataset.download }).click();
  });
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select, textarea, dialog")) return;
    const cards = [...document.querySelectorAll(".card")];
    const at = cards.indexOf(document.activeElement?.closest?.(".card"));
    if (event.key === "j" || event.key === "ArrowDown") cards[Math.min(at + 1, cards.length - 1)]?.focus();
    else if (event.key === "k" || event.key === "ArrowUp") cards[Math.max(at - 1, 0)]?.focus();
    else if (event.key === "y" && cards[at]?.dataset.approve !== undefined) press(event, cards[at], "approve");
    else if (event.key === "n" && at >= 0) press(event, cards[at], "refuse");
    else return;
    event.preventDefault();
  });

  // --- The first visit: a start link, or pairing.
  const start = async () => {
    const code = location.hash.slice(1);
    history.replaceState(null, "", "/start");
    try {
      keep((await json("/api/v1/start", { code })).token, localStorage);
      location.replace("/");
    } catch (error) {
      main().replaceChildren(make("h1", "This link doesn't work"), make("p", `${error.message}. Get a new one with `), make("code", "doorward serve --link"));
    }
  };
  const pair = async () => {
    const form = make("form", "");
    const name = make("input", "", { name: "name", maxLength: 60, required: true, value: `${navigator.userAgentData?.brands?.at(-1)?.brand ?? "Browser"} on ${navigator.userAgentData?.platform || navigator.platform}` });
    const code = make("input", "", { name: "code", autocomplete: "off", required: true, value: decodeURIComponent(location.hash.slice(1)) });
    history.replaceState(null, "", "/pair");
    const [label, other] = [make("label", "Name of this device"), make("label", "Code from the terminal")];
    label.append(name);
    other.append(code);
    form.append(label, other, make("button", "Pair this browser", { className: "yes" }));
    main().replaceChildren(make("h1", "Pair this browser"), make("p", "Then it can answer questions. Its key never leaves it."), form);
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      if (!event.isTrusted) return;
      try {
        const key = await newKey();
        const statement = JSON.stringify({ doorward: "pair 1", origin: location.origin, key: key.key, algorithm: key.algorithm, name: name.value });
        const claim = { code: code.value, statement, signature: await signed(key, statement) };
        const { device, words } = await json("/api/v1/pair", claim);
        main().replaceChildren(make("h1", "Confirm in the terminal"), make("p", "The terminal must show the same words:"), make("p", words, { className: "words" }));
        for (;;) {
          await new Promise((done) => setTimeout(done, 700));
          const { state } = await json("/api/v1/pair/state", { device });
          if (state === "refused") throw new Error("it was refused in the terminal");
          if (state === "paired") break;
        }
        await store("readwrite", (keys) => keys.put({ ...key, device }, "device"));
        drop();
        location.replace("/");
      } catch (error) {
        note(`Not paired: ${error.message}`, true);
      }
    });
  };

  if (location.pathname === "/start") start();
  else if (location.pathname === "/pair") pair();
  else show().then((shown) => { if (shown && live()) { setInterval(countDown, 1000); listen(); } });
})();

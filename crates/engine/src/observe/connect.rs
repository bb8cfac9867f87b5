//! One host, one exchange: where it goes, what leaves, what arrives.

use doorward_vocabulary::{Degree, FlowKind, Mark, Marks, Operation, Reach, Reversibility, Scope};

use super::field::Field;
use super::sheet::observer::{By, Observer};
use crate::effect::{Effect, Target};
use crate::network::{self, Address};
use crate::secret;

/// Which way data goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Exchange {
    /// Asks and receives.
    Fetch,
    /// Sends data.
    Send,
}

impl Observer<'_> {
    /// Writes down an exchange with the address that a field names.
    pub(super) fn connect(&mut self, field: &Field, exchange: Exchange, by: &By) {
        if field.dynamic && !host_is_fixed(field.prefix()) {
            self.lower(Degree::Opaque, format!("which host `{}` is", field.shown()));
            let marks = Marks::default().with(Mark::UnlistedHost);
            self.unknown(Operation::Network, by, marks);
            return;
        }
        let text = if field.dynamic { field.prefix() } else { &field.text };
        let mut address = network::url(text, self.world);
        if field.dynamic {
            address.marks.add(Mark::VariablePart);
        }
        self.contact(&address, exchange, by);
        if !address.marks.has(Mark::Loopback) && secret::holds_encoded(&field.text) {
            self.flow(FlowKind::SecretToNetwork, by.part, by.part);
        }
    }

    /// Writes down an exchange with a bare host.
    pub(super) fn connect_host(&mut self, field: &Field, exchange: Exchange, by: &By) {
        match field.known() {
            Some(text) => {
                let address = network::host(text, self.world);
                self.contact(&address, exchange, by);
            }
            None => {
                self.lower(Degree::Opaque, format!("which host `{}` is", field.shown()));
                self.unknown(Operation::Network, by, Marks::default().with(Mark::UnlistedHost));
            }
        }
    }

    /// `/dev/tcp/host/port`.
    pub(super) fn socket(&mut self, host: &str, port: &str, by: &By, writes: bool) {
        let address = network::host(&format!("{host}:{port}"), self.world);
        self.contact(&address, if writes { Exchange::Send } else { Exchange::Fetch }, by);
    }

    pub(super) fn contact(&mut self, address: &Address, exchange: Exchange, by: &By) {
        let mut effect = Effect::new(Operation::Network, Target::Host(address.host.clone()));
        effect.marks = address.marks;
        effect.scope = if address.marks.has(Mark::Loopback) { Scope::Project } else { Scope::External };
        effect.reach = Reach::Workspace;
        if exchange == Exchange::Send {
            effect.marks.add(Mark::Upload);
            if !address.marks.has(Mark::Loopback) {
                effect.reach = Reach::Beyond;
                effect.reversibility = Reversibility::Irreversible;
            }
        }
        effect.by.clone_from(&by.name);
        effect.part = by.part;
        self.effect(effect);
    }
}

/// The unknown part of a URL comes after the host.
fn host_is_fixed(prefix: &str) -> bool {
    match prefix.split_once("://") {
        Some((_, rest)) => rest.contains('/') && !rest.starts_with('/'),
        None => false,
    }
}

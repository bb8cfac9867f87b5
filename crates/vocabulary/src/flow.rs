//! How data of one effect reaches another.

use crate::words;

words! {
    /// Data of one effect that reaches another.
    FlowKind {
        DataToFile = "data-to-file" : "output of one command is written to a file",
        DataToNetwork = "data-to-network" : "output of one command leaves this machine",
        SecretToFile = "secret-to-file" : "a secret is copied into a file",
        SecretToNetwork = "secret-to-network" : "a secret leaves this machine",
        DownloadToFile = "download-to-file" : "a download is stored",
        DownloadToExecute = "download-to-execute" : "a download is run",
        DataToExecute = "data-to-execute" : "data of unknown content is run as code",
    }
}

//! The dimensions of an effect: what is done, where, whether it can be undone, who feels it, what it holds.

use crate::words;

words! {
    /// What is done to the target.
    Operation {
        Read = "read" : "looks at something and changes nothing",
        Write = "write" : "creates or changes a file",
        Execute = "execute" : "runs code that is not fully seen here",
        Network = "network" : "talks to another machine",
        Delete = "delete" : "removes a file or its content",
        Mutate = "mutate" : "changes state that is not a file: processes, packages, git refs, services, databases, cloud",
    }
}

words! {
    /// Where the target lies, from the agent's own corner outward.
    Scope {
        Scratch = "scratch" : "temporary files that belong to the agent",
        File = "file" : "one file of the project",
        Directory = "directory" : "a directory of the project",
        Project = "project" : "the whole project",
        OtherRepo = "other-repo" : "another repository or the rest of the home directory",
        System = "system" : "the machine beyond your own files",
        External = "external" : "another machine or service",
    }
}

words! {
    /// Whether what is changed can be had back.
    Reversibility {
        NothingChanges = "nothing-changes" : "there is nothing to undo",
        Rebuildable = "rebuildable" : "ignored build output that a build makes again",
        Snapshotted = "snapshotted" : "doorward has a copy",
        Tracked = "tracked" : "git can restore it, once the loss is noticed",
        Irreversible = "irreversible" : "it can't be restored",
    }
}

words! {
    /// Blast radius: who or what feels it.
    Reach {
        Workspace = "workspace" : "only the agent's own work",
        Project = "project" : "the project that the agent works on",
        Shared = "shared" : "manifest, continuous integration, infrastructure: everyone who builds the project",
        Machine = "machine" : "other programs and users of this machine",
        Identity = "identity" : "authentication or encryption material",
        Beyond = "beyond" : "people and systems elsewhere",
    }
}

words! {
    /// What the content or the target is.
    Sensitivity {
        None = "none" : "nothing sensitive was recognised",
        SecretShaped = "secret-shaped" : "text shaped like a token or password",
        Personal = "personal" : "personal data",
        Credential = "credential" : "a credential store or token file",
        Key = "key" : "a private key",
    }
}

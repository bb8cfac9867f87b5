-- One row per machine that ships its log.
create table edge (
    id int generated always as identity primary key,
    name text not null,
    user_name text not null,
    team text not null default '',
    version text not null,
    key text not null unique,
    checkpoint_key text not null,
    enrolled_ms bigint not null,
    revoked_ms bigint,
    -- When it last asked for anything, by the hub's clock, and how far its own clock was off then.
    seen_ms bigint not null,
    -- The edge's own clock at its last request: an old request that is sent again is no sign of life.
    asked_ms bigint not null default 0,
    skew_ms bigint not null default 0,
    -- The last record that is stored, and what is known of the log's segments: what the next shipment is proven against.
    head_sequence bigint not null default 0,
    head_hash bytea,
    held text not null default '{}',
    checkpoint text
);

-- A copied machine has the key of another one's log. Once that one is revoked, the log may start a history under a new number.
create unique index edge_log on edge (checkpoint_key) where revoked_ms is null;

-- Tokens for one enrolment. The row has the public half only: whoever reads it can enrol nothing.
create table token (
    key text primary key,
    team text not null,
    made_ms bigint not null,
    expires_ms bigint not null,
    used_ms bigint,
    edge int references edge
);

-- Every record, in partitions by the month in which it arrived. The hub's clock decides, not the edge's: a clock set years ahead
-- makes no partition. A record is stored once because only what is behind `edge.head_sequence` is stored, under that row's lock.
create table record (
    edge int not null,
    sequence bigint not null,
    month int not null,
    received_ms bigint not null,
    time_ms bigint not null,
    kind smallint not null,
    kept boolean not null,
    hash bytea not null,
    body_hash bytea not null,
    body_length int not null,
    body bytea,
    subject text,
    decision text,
    agent text,
    session text,
    project text,
    user_name text,
    tool text,
    verdict text,
    rule text,
    category text,
    pattern text,
    step text,
    answered_by text,
    call text,
    latency_us bigint,
    primary key (edge, sequence, month)
) partition by range (month);
create index record_time on record (time_ms desc);
create index record_stopped on record (time_ms desc) where verdict <> 'approve' and kind = 1;

-- What outlives its partition: records that are kept for good.
create table record_kept (like record including defaults, primary key (edge, sequence));
create index record_kept_time on record_kept (time_ms desc);

-- What left with a partition: the ends of each run, so the chain can still be followed across it.
create table dropped (
    edge int not null references edge,
    first bigint not null,
    last bigint not null,
    last_hash bytea not null,
    month int not null,
    primary key (edge, first, month)
);

create view every_record as select * from record union all select * from record_kept;

-- Decisions by day, counted while they arrive: no chart reads the records.
create table tally (
    day int not null,
    edge int not null,
    agent text not null,
    project text not null,
    user_name text not null,
    category text not null,
    verdict text not null,
    decisions bigint not null default 0,
    overridden bigint not null default 0,
    latency_us bigint not null default 0,
    primary key (day, edge, agent, project, user_name, category, verdict)
);

-- Each yes of a person to what a rule stopped.
create table override_seen (
    edge int not null,
    decision text not null,
    rule text not null,
    user_name text not null,
    at_ms bigint not null,
    primary key (edge, decision)
);
create index override_seen_rule on override_seen (rule, at_ms);

create table alert (
    id bigint generated always as identity primary key,
    name text not null,
    edge int references edge,
    subject text not null,
    detail text not null,
    first_ms bigint not null,
    last_ms bigint not null,
    times bigint not null default 1,
    resolved_ms bigint,
    resolved_by text
);
create unique index alert_open on alert (name, coalesce(edge, 0), subject) where resolved_ms is null;

-- People who may look, and what they looked at.
create table person (
    id int generated always as identity primary key,
    name text not null unique,
    role text not null,
    secret_hash bytea,
    oidc_subject text unique,
    made_ms bigint not null,
    revoked_ms bigint
);
create table look (
    id bigint generated always as identity primary key,
    at_ms bigint not null,
    person text not null,
    role text not null,
    what text not null,
    rows bigint not null
);

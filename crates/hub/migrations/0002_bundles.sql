-- Policy on its way back to the machines. The hub keeps and hands out; machines verify.
create table bundle (
    version bigint primary key,
    digest text not null,
    bytes bytea not null,
    published_ms bigint not null
);

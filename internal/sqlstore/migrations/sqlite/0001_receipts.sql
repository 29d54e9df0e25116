-- oldest: 1

-- A receipt is small and lives long; its row is also the queue entry. due_at is when it may be leased next, for a leased
-- one the end of the lease, and NULL once it is settled.
CREATE TABLE webhook_receipts (
	id BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
	identity BLOB NOT NULL UNIQUE CHECK (length(identity) = 16),
	token BLOB CHECK (length(token) = 16),
	tenant_id TEXT NOT NULL,
	scope TEXT NOT NULL,
	namespace TEXT NOT NULL,
	source TEXT NOT NULL,
	destination TEXT NOT NULL DEFAULT '',
	idempotency_key TEXT NOT NULL,
	delivery_id BLOB NOT NULL,
	event_id TEXT NOT NULL DEFAULT '',
	event_type TEXT NOT NULL DEFAULT '',
	account TEXT NOT NULL DEFAULT '',
	object TEXT NOT NULL DEFAULT '',
	object_key BLOB,
	version TEXT NOT NULL DEFAULT '',
	content BLOB NOT NULL,
	secret_id BLOB NOT NULL,
	occurred_at INTEGER,
	sent_at INTEGER,
	received_at INTEGER NOT NULL,
	part_start INTEGER NOT NULL,
	part_end INTEGER NOT NULL,
	status TEXT NOT NULL DEFAULT 'received',
	run INTEGER NOT NULL DEFAULT 1,
	lease INTEGER NOT NULL DEFAULT 0,
	attempts INTEGER NOT NULL DEFAULT 0,
	due_at INTEGER,
	blocked INTEGER NOT NULL DEFAULT 0, -- 1 while it waits for the holder of its object
	processed_at INTEGER,
	result TEXT NOT NULL DEFAULT '',
	error TEXT NOT NULL DEFAULT ''
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX webhook_receipts_token ON webhook_receipts (token) WHERE token IS NOT NULL;

-- Two indexes, so that a search for work never wades through the leases that are held.
CREATE INDEX webhook_receipts_waiting ON webhook_receipts (tenant_id, due_at) WHERE status = 'received';
CREATE INDEX webhook_receipts_leased ON webhook_receipts (tenant_id, due_at) WHERE status = 'processing';
CREATE INDEX webhook_receipts_blocked ON webhook_receipts (tenant_id, object_key, received_at) WHERE blocked = 1;

-- Bodies lie apart: they are large and are erased early. With a rowid, since a row of this size would overflow its page
-- without one.
CREATE TABLE webhook_bodies (
	delivery_id BLOB NOT NULL PRIMARY KEY CHECK (length(delivery_id) = 16),
	tenant_id TEXT NOT NULL,
	request_id TEXT NOT NULL DEFAULT '',
	received_at INTEGER NOT NULL,
	headers BLOB NOT NULL,
	body BLOB NOT NULL
) STRICT;

CREATE TABLE webhook_objects (
	tenant_id TEXT NOT NULL,
	object_key BLOB NOT NULL,
	busy_receipt BLOB,
	busy_lease INTEGER,
	busy_until INTEGER,
	version BLOB, -- the highest finished one, as order-preserving bytes
	PRIMARY KEY (tenant_id, object_key)
) STRICT, WITHOUT ROWID;

CREATE TABLE webhook_steps (
	receipt_id BLOB NOT NULL,
	run INTEGER NOT NULL,
	name TEXT NOT NULL,
	result BLOB NOT NULL,
	kept_at INTEGER NOT NULL,
	PRIMARY KEY (receipt_id, run, name)
) STRICT;

-- identity digests tenant, source, key and content: copies of what waits for a person only count.
CREATE TABLE webhook_reviews (
	id BLOB NOT NULL PRIMARY KEY CHECK (length(id) = 16),
	identity BLOB NOT NULL UNIQUE CHECK (length(identity) = 16),
	tenant_id TEXT NOT NULL,
	scope TEXT NOT NULL,
	namespace TEXT NOT NULL,
	source TEXT NOT NULL,
	idempotency_key TEXT NOT NULL,
	delivery_id BLOB NOT NULL,
	receipt_id BLOB, -- the one it met
	verdict TEXT NOT NULL,
	reason TEXT NOT NULL,
	status TEXT NOT NULL DEFAULT 'open',
	copies INTEGER NOT NULL DEFAULT 1,
	first_at INTEGER NOT NULL,
	last_at INTEGER NOT NULL,
	event_id TEXT NOT NULL,
	event_type TEXT NOT NULL,
	account TEXT NOT NULL,
	object TEXT NOT NULL,
	version TEXT NOT NULL,
	content BLOB NOT NULL,
	secret_id BLOB NOT NULL,
	occurred_at INTEGER,
	sent_at INTEGER,
	part_start INTEGER NOT NULL,
	part_end INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX webhook_reviews_listed ON webhook_reviews (tenant_id, status, last_at);

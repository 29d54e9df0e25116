-- oldest: 1

-- A receipt is small and lives long; its row is also the queue entry. due_at is when it may be leased next, for a leased
-- one the end of the lease, and NULL once it is settled. Never partitioned by time: a UNIQUE would need the time in it.
CREATE TABLE webhook_receipts (
	id uuid NOT NULL PRIMARY KEY,
	identity uuid NOT NULL UNIQUE,
	token uuid,
	tenant_id text COLLATE "C" NOT NULL,
	scope text NOT NULL,
	namespace text NOT NULL,
	source text NOT NULL,
	destination text NOT NULL DEFAULT '',
	idempotency_key text NOT NULL,
	delivery_id uuid NOT NULL,
	event_id text NOT NULL DEFAULT '',
	event_type text NOT NULL DEFAULT '',
	account text NOT NULL DEFAULT '',
	object text NOT NULL DEFAULT '',
	object_key uuid,
	version text NOT NULL DEFAULT '',
	content bytea NOT NULL,
	secret_id bytea NOT NULL,
	occurred_at bigint,
	sent_at bigint,
	received_at bigint NOT NULL,
	part_start bigint NOT NULL,
	part_end bigint NOT NULL,
	status text COLLATE "C" NOT NULL DEFAULT 'received',
	run bigint NOT NULL DEFAULT 1,
	lease bigint NOT NULL DEFAULT 0,
	attempts bigint NOT NULL DEFAULT 0,
	due_at bigint,
	blocked bigint NOT NULL DEFAULT 0, -- 1 while it waits for the holder of its object
	processed_at bigint,
	result text NOT NULL DEFAULT '',
	error text NOT NULL DEFAULT ''
) WITH (
	fillfactor = 90, -- every receipt is updated at least twice
	autovacuum_vacuum_scale_factor = 0.02, -- dead rows slow down the search for work
	autovacuum_vacuum_insert_scale_factor = 0.05,
	autovacuum_analyze_scale_factor = 0.02,
	autovacuum_vacuum_cost_delay = 1
);

CREATE UNIQUE INDEX webhook_receipts_token ON webhook_receipts (token) WHERE token IS NOT NULL;

-- Two indexes, so that a search for work never wades through the leases that are held.
CREATE INDEX webhook_receipts_waiting ON webhook_receipts (tenant_id, due_at) WHERE status = 'received';
CREATE INDEX webhook_receipts_leased ON webhook_receipts (tenant_id, due_at) WHERE status = 'processing';
CREATE INDEX webhook_receipts_blocked ON webhook_receipts (tenant_id, object_key, received_at) WHERE blocked = 1;

-- Bodies lie apart: they are large and are erased early.
CREATE TABLE webhook_bodies (
	delivery_id uuid NOT NULL PRIMARY KEY,
	tenant_id text COLLATE "C" NOT NULL,
	request_id text NOT NULL DEFAULT '',
	received_at bigint NOT NULL,
	headers bytea NOT NULL,
	body bytea NOT NULL
) WITH (autovacuum_vacuum_insert_scale_factor = 0.05);

CREATE TABLE webhook_objects (
	tenant_id text COLLATE "C" NOT NULL,
	object_key uuid NOT NULL,
	busy_receipt uuid,
	busy_lease bigint,
	busy_until bigint,
	version bytea, -- the highest finished one, as order-preserving bytes
	PRIMARY KEY (tenant_id, object_key)
) WITH (
	fillfactor = 70, -- no indexed column changes: room for updates in the same page
	autovacuum_vacuum_scale_factor = 0.02
);

CREATE TABLE webhook_steps (
	receipt_id uuid NOT NULL,
	run bigint NOT NULL,
	name text COLLATE "C" NOT NULL,
	result bytea NOT NULL,
	kept_at bigint NOT NULL,
	PRIMARY KEY (receipt_id, run, name)
);

-- identity digests tenant, source, key and content: copies of what waits for a person only count.
CREATE TABLE webhook_reviews (
	id uuid NOT NULL PRIMARY KEY,
	identity uuid NOT NULL UNIQUE,
	tenant_id text COLLATE "C" NOT NULL,
	scope text NOT NULL,
	namespace text NOT NULL,
	source text NOT NULL,
	idempotency_key text NOT NULL,
	delivery_id uuid NOT NULL,
	receipt_id uuid, -- the one it met
	verdict text NOT NULL,
	reason text NOT NULL,
	status text COLLATE "C" NOT NULL DEFAULT 'open',
	copies bigint NOT NULL DEFAULT 1,
	first_at bigint NOT NULL,
	last_at bigint NOT NULL,
	event_id text NOT NULL,
	event_type text NOT NULL,
	account text NOT NULL,
	object text NOT NULL,
	version text NOT NULL,
	content bytea NOT NULL,
	secret_id bytea NOT NULL,
	occurred_at bigint,
	sent_at bigint,
	part_start bigint NOT NULL,
	part_end bigint NOT NULL
);

CREATE INDEX webhook_reviews_listed ON webhook_reviews (tenant_id, status, last_at);

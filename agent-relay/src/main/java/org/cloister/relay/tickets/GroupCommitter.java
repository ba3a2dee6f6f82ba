package org.cloister.relay.tickets;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.cloister.audit.AuditLogWriter;
import org.cloister.protocol.audit.AuditEvent;
import org.cloister.relay.fairness.FairQueue;
import org.cloister.relay.fairness.LaneLimits;
import org.cloister.relay.state.AuditOutbox;
import org.cloister.relay.state.RelayDatabase;
import org.cloister.relay.state.RelayDatabaseException;
import org.cloister.relay.state.RelayTransaction;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Changes the relay's records on one thread, in turns between projects and hosts: many changes in one transaction, then
 * their events in the audit log as one group, then the actions that follow. Events stay in the transaction's outbox
 * until the log has them, so that a crash between the two neither loses an event nor writes it twice.
 */
final class GroupCommitter implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(GroupCommitter.class);
    private static final int BATCH = 512;
    private static final long RETRY_MS = 1000;
    /** Payer of the relay's own changes: Slurm's answers, periodic tasks, operators' requests. */
    private static final String OWN = "";
    /** Maximum number of changes of one payer in one transaction: no other payer waits for more. */
    private static final int BATCH_OF_ONE = 64;
    /**
     * Limit of one payer's waiting changes. Its streams can have fewer unanswered messages, apart from hosts' claims of
     * its tickets.
     */
    private static final int WAITING = 2048;
    /** Limit of the relay's own waiting changes: a few for each open ticket. */
    private static final int OWN_WAITING = 1 << 20;

    /** Change of the records. A refusal is an answer, not an exception. */
    interface Change {
        void apply(Context records) throws RelayDatabaseException;

        /** Called when nothing of the change was done. */
        default void onFailure() {}
    }

    /** Transaction and follow-up actions of the changes. */
    static final class Context {
        private final RelayTransaction transaction;
        private final List<AuditEvent> events = new ArrayList<>();
        private final List<Runnable> committed = new ArrayList<>();
        private final List<Runnable> audited = new ArrayList<>();

        Context(RelayTransaction transaction) {
            this.transaction = transaction;
        }

        RelayTransaction transaction() {
            return transaction;
        }

        void event(AuditEvent event) throws RelayDatabaseException {
            events.add(event.numbered(transaction.outbox().add(event.json())));
        }

        /** Registers an action that runs on the same thread when the change is on disk. */
        void onCommitted(Runnable action) {
            committed.add(action);
        }

        /** Registers an action that runs when the change's events, and all events before them, are also in the log. */
        void onAudited(Runnable action) {
            audited.add(action);
        }
    }

    private final RelayDatabase state;
    private final AuditLogWriter log;
    /** Guarded by its own monitor. */
    private final FairQueue<String, Change> queue = new FairQueue<>(
            2 * OWN_WAITING,
            1,
            payer -> payer.equals(OWN)
                    ? LaneLimits.unpaced(OWN_WAITING, BATCH)
                    : LaneLimits.unpaced(WAITING, BATCH_OF_ONE));

    private final List<AuditEvent> events = new ArrayList<>();
    private final List<Runnable> unaudited = new ArrayList<>();
    private final Thread thread;
    private volatile boolean closed;

    /** Opens the committer and writes the events that a crash left in the outbox, if the log is writable. */
    GroupCommitter(RelayDatabase state, AuditLogWriter log) throws IOException {
        this.state = state;
        this.log = log;
        List<AuditOutbox.Pending> pending;
        long after = log.lastEvent();
        do {
            long from = after;
            pending = state.transact(transaction -> transaction.outbox().pending(from, BATCH));
            for (AuditOutbox.Pending each : pending) {
                events.add(AuditEvent.parse(each.body(), each.id()));
                after = each.id();
            }
        } while (pending.size() == BATCH);
        audit();
        this.thread = new Thread(this::run, "records");
    }

    void start() {
        thread.start();
    }

    /** Adds a change of the relay's own. */
    void add(Change change) {
        add(OWN, change);
    }

    /**
     * Adds a change that a peer requested; a change above its payer's limit fails at once.
     *
     * @param payer a project, or a host by its name
     */
    void add(String payer, Change change) {
        boolean accepted;
        synchronized (queue) {
            accepted = queue.offer(payer, 1, change, System.nanoTime());
            queue.notifyAll();
        }
        if (!accepted) {
            follow(change::onFailure);
        }
    }

    /** Returns the number of waiting changes, for a metric. */
    int waiting() {
        synchronized (queue) {
            return queue.size();
        }
    }

    /** Takes the next changes, in turns between payers; empty if none arrives for a while. */
    private List<FairQueue.Dequeued<String, Change>> next() throws InterruptedException {
        List<FairQueue.Dequeued<String, Change>> batch = new ArrayList<>();
        synchronized (queue) {
            if (queue.size() == 0 && !closed) {
                queue.wait(RETRY_MS);
            }
            Optional<FairQueue.Dequeued<String, Change>> each = queue.poll(System.nanoTime());
            while (each.isPresent()) {
                batch.add(each.get());
                each = batch.size() < BATCH ? queue.poll(System.nanoTime()) : Optional.empty();
            }
            batch.forEach(accepted -> queue.finish(accepted.key()));
        }
        return batch;
    }

    private void run() {
        while (!closed || waiting() > 0) {
            try {
                List<Change> batch =
                        next().stream().map(FairQueue.Dequeued::what).toList();
                if (!batch.isEmpty()) {
                    commit(batch);
                }
                audit();
            } catch (InterruptedException e) {
                closed = true;
            } catch (RuntimeException e) {
                LOG.error("a change of the records failed with an internal error", e);
            }
        }
    }

    /** Commits all changes at once; if that fails, one by one, so that one change cannot block the others. */
    private void commit(List<Change> batch) {
        try {
            carryOut(batch);
        } catch (RelayDatabaseException | RuntimeException e) {
            if (batch.size() == 1) {
                fail(batch.get(0), e);
                return;
            }
            for (Change each : batch) {
                try {
                    carryOut(List.of(each));
                } catch (RelayDatabaseException | RuntimeException own) {
                    fail(each, own);
                }
            }
        }
    }

    private void carryOut(List<Change> batch) throws RelayDatabaseException {
        long logged = log.lastEvent();
        Context records = state.transact(transaction -> {
            transaction.outbox().markWritten(logged);
            Context context = new Context(transaction);
            for (Change each : batch) {
                each.apply(context);
            }
            return context;
        });
        events.addAll(records.events);
        unaudited.addAll(records.audited);
        records.committed.forEach(GroupCommitter::follow);
    }

    private static void fail(Change change, Exception why) {
        if (why instanceof RelayDatabaseException) {
            LOG.error("the records cannot be changed: {}", why.getMessage());
        } else {
            LOG.error("a change of the records failed with an internal error", why);
        }
        follow(change::onFailure);
    }

    /**
     * Writes the events that the log does not have yet, oldest first. If the log cannot be written, the actions that
     * wait for it remain pending.
     */
    private void audit() {
        if (!events.isEmpty()) {
            try {
                log.append(events);
            } catch (IOException e) {
                LOG.error(
                        "the audit log cannot be written: {}; the relay accepts no new tickets until it can",
                        e.getMessage());
                return;
            }
            events.clear();
        }
        List<Runnable> due = List.copyOf(unaudited);
        unaudited.clear();
        due.forEach(GroupCommitter::follow);
    }

    private static void follow(Runnable action) {
        try {
            action.run();
        } catch (RuntimeException e) {
            LOG.error("an action after a change failed with an internal error", e);
        }
    }

    /** Completes the waiting changes and stops the thread. */
    @Override
    public void close() {
        closed = true;
        synchronized (queue) {
            queue.notifyAll();
        }
        try {
            thread.join(TimeUnit.SECONDS.toMillis(10));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}

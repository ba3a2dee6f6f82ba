package org.cloister.host.run;

import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Consumer;
import org.cloister.host.desk.Caller;
import org.cloister.host.desk.Phase;
import org.cloister.host.desk.Phases;
import org.cloister.host.desk.Work;
import org.cloister.host.desk.WorkRefused;
import org.cloister.host.ledger.Action;
import org.cloister.host.ledger.End;
import org.cloister.host.ledger.Entry;
import org.cloister.host.ledger.Ledger;
import org.cloister.host.ledger.Round;
import org.cloister.host.ledger.Step;
import org.cloister.host.vm.VmOwner;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** All VMs that somebody waits for. From any thread. */
final class Runs implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Runs.class);

    private final RunParts parts;
    private final CountDownLatch firstRound = new CountDownLatch(1);
    private final ExecutorService threads = Executors.newCachedThreadPool(work -> {
        Thread thread = new Thread(work, "vm");
        thread.setDaemon(true);
        return thread;
    });
    private volatile Consumer<String> asked = uuid -> {};
    /** By UUID. */
    private final Map<String, VmRun> waiting = new HashMap<>();

    Runs(RunParts parts) {
        this.parts = parts;
    }

    /** A VM is made, whatever becomes of it. */
    Work.Run begin(Caller caller, String ticket, Phases phases) {
        VmRun run = new VmRun(parts, this, phases, Phase.JOB);
        threads.execute(() -> run.make(caller, ticket));
        return run;
    }

    /** The caller waits on for a VM that it had before this process was. */
    Work.Run resume(Caller caller, String ticket, Phases phases) throws WorkRefused {
        Entry entry = parts.ledger().entries().stream()
                .filter(each ->
                        each.owner().ticket().equals(ticket) && each.owner().globalJob() == caller.job())
                .findFirst()
                .orElseThrow(() -> new WorkRefused(
                        "ticket " + ticket + ": want its VM of job " + caller.job() + ", have none any more",
                        "see agent-host's log for how it ended"));
        VmRun run = new VmRun(parts, this, phases, Phase.of(entry.step()).orElse(Phase.TICKET));
        run.attach(entry.owner().uuid());
        begun(entry.owner().uuid(), run);
        return run;
    }

    void awaitFirstRound() throws InterruptedException {
        firstRound.await();
    }

    synchronized void begun(String uuid, VmRun run) {
        waiting.put(uuid, run);
    }

    /** @param hears of each VM that is asked to end, when that is on disk; from any thread */
    void listen(Consumer<String> hears) {
        asked = hears;
    }

    /** Somebody wishes it; it is on disk when this returns. */
    void end(String uuid) throws IOException {
        parts.ender().end(uuid, End.Why.ASKED);
        asked.accept(uuid);
    }

    /** For {@code FirstWord}. */
    void spoke(VmOwner owner) throws IOException {
        Ledger ledger = parts.ledger();
        Optional<Entry> entry = ledger.entry(owner.uuid());
        if (entry.isEmpty() || entry.get().step() != Step.RUNNING || !ledger.begin(owner.uuid(), Step.REGISTERED)) {
            return;
        }
        VmRun run;
        synchronized (this) {
            run = waiting.get(owner.uuid());
        }
        if (run != null) {
            run.reached(Phase.REGISTERED);
        }
    }

    /** A round is over; on the rounds' thread. */
    void rounded(Round.Outcome outcome) {
        if (outcome.unheard().isEmpty()) {
            firstRound.countDown();
        }
        for (Action action : outcome.done()) {
            if (action instanceof Action.Forget forget) {
                gone(forget.owner().uuid(), forget.end());
            }
        }
        List<VmRun> left;
        synchronized (this) {
            left = List.copyOf(waiting.values());
        }
        left.forEach(VmRun::left);
    }

    /** Nobody waits for it any more, whether it ever was or not. */
    synchronized void over(String uuid) {
        waiting.remove(uuid);
    }

    private void gone(String uuid, End end) {
        LOG.info(
                "VM {}: nothing is left of it {} ms after it was to end: {}",
                uuid,
                parts.clock().millis() - end.atMs(),
                end.why());
        VmRun run;
        synchronized (this) {
            run = waiting.get(uuid);
        }
        if (run != null) {
            run.gone(end);
        }
    }

    @Override
    public void close() {
        threads.shutdownNow();
    }
}

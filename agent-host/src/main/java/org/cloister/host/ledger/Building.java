package org.cloister.host.ledger;

import java.io.IOException;
import java.time.InstantSource;
import java.util.EnumSet;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * VMs on their way up in this process, each on the thread that asks for it: every step is in the ledger before it is done.
 * It takes nothing down: a VM that fails is marked as ending, and left to {@link Round}.
 */
public final class Building {
    private static final Set<Step> STEPS = EnumSet.range(Step.OVERLAY, Step.RUNNING);

    private final Ledger ledger;
    private final InstantSource clock;
    private final Set<String> building = ConcurrentHashMap.newKeySet();

    public Building(Ledger ledger, InstantSource clock) {
        this.ledger = ledger;
        this.clock = clock;
    }

    /** UUIDs of VMs that rounds leave alone. */
    Set<String> now() {
        return Set.copyOf(building);
    }

    /**
     * Returns when its guest runs.
     *
     * @throws ClaimRefused with nothing written or made
     */
    public void build(Entry entry, Maker maker) throws ClaimRefused, BuildFailed, IOException {
        build(entry, maker, () -> {});
    }

    /** @param claimed is run once the ledger has the entry, before anything is made; it may end it */
    public void build(Entry entry, Maker maker, Runnable claimed) throws ClaimRefused, BuildFailed, IOException {
        String uuid = entry.owner().uuid();
        if (!building.add(uuid)) {
            throw new ClaimRefused("VM " + uuid + ": built: want once, have the second call; make a new UUID");
        }
        try {
            ledger.claim(entry);
            claimed.run();
            for (Step step : STEPS) {
                if (step != Step.SCRATCH || entry.scratch()) {
                    doStep(entry, step, maker);
                } else {
                    begin(entry, step);
                }
            }
        } finally {
            building.remove(uuid);
        }
    }

    private void doStep(Entry entry, Step step, Maker maker) throws BuildFailed {
        try {
            if (!maker.isFree(step)) {
                throw new IOException("want a name of its own, have something under it; see agentctl host ledger");
            }
            begin(entry, step);
            maker.make(step);
        } catch (IOException e) {
            fail(entry, step);
            throw new BuildFailed(step, message(entry, step) + e.getMessage(), e);
        }
    }

    private void begin(Entry entry, Step step) throws IOException, BuildFailed {
        if (!ledger.begin(entry.owner().uuid(), step)) {
            throw new BuildFailed(step, message(entry, step) + "want a VM that goes on, have one that is to end");
        }
    }

    /** If that is not written either, the entry is one that nobody builds, and the next round ends it. */
    private void fail(Entry entry, Step step) throws BuildFailed {
        try {
            ledger.end(entry.owner().uuid(), new End(End.Why.FAILED, step.name(), clock.millis()));
        } catch (IOException e) {
            throw new BuildFailed(step, message(entry, step) + e.getMessage(), e);
        }
    }

    private static String message(Entry entry, Step step) {
        return "VM " + entry.owner().uuid() + ": " + step + ": ";
    }
}

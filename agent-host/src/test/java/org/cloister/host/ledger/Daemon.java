package org.cloister.host.ledger;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.Arrays;
import java.util.List;
import org.cloister.host.vm.VmOwner;

/** The daemon's part of it on a {@link FakeMachine}: a ledger on disk, and what is in memory while the process lives. */
final class Daemon {
    static final Times TIMES = new Times(Duration.ofMinutes(5), Duration.ofSeconds(30));

    private final FakeMachine machine;
    private final Path file;
    private final InstantSource clock = () -> Instant.ofEpochMilli(now());
    private long nowMs = 1_700_000_000_000L;
    private Ledger ledger;
    private Building building;
    private Round round;

    Daemon(FakeMachine machine, Path file) throws IOException {
        this.machine = machine;
        this.file = file;
        this.ledger = Ledger.open(file);
        this.building = new Building(ledger, clock);
        this.round = new Round(ledger, building, machine, TIMES, clock);
    }

    private long now() {
        return nowMs;
    }

    void pass(Duration time) {
        nowMs += time.toMillis();
    }

    void build(VmOwner owner, boolean scratch) throws ClaimRefused, BuildFailed, IOException {
        build(owner, scratch, machine.maker(owner));
    }

    void build(VmOwner owner, boolean scratch, Maker maker) throws ClaimRefused, BuildFailed, IOException {
        building.build(Entry.claim(owner, scratch, nowMs), maker);
    }

    /** As by somebody who asked before the ledger had it. */
    void buildAsked(VmOwner owner) throws ClaimRefused, BuildFailed, IOException {
        building.build(Entry.claim(owner, false, nowMs), machine.maker(owner), () -> {
            try {
                ask(owner);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        });
    }

    void register(VmOwner owner) throws IOException {
        ledger.begin(owner.uuid(), Step.REGISTERED);
    }

    void ask(VmOwner owner) throws IOException {
        ledger.end(owner.uuid(), new End(End.Why.ASKED, "", nowMs));
    }

    Round.Outcome round() {
        return round.run();
    }

    Ledger ledger() {
        return ledger;
    }

    List<Entry> entries() {
        return ledger.entries();
    }

    boolean isEnding(VmOwner owner) {
        return ledger.entry(owner.uuid()).map(Entry::isEnding).orElse(true);
    }

    /** @param lost whether the ledger goes with the process */
    void restart(Killed killed, boolean cut, boolean lost) throws IOException {
        ledger.close();
        if (lost) {
            Files.delete(file);
        } else if (cut && killed.isBeforeMaking()) {
            cutLastLine();
        }
        machine.restarted();
        ledger = Ledger.open(file);
        building = new Building(ledger, clock);
        round = new Round(ledger, building, machine, TIMES, clock);
    }

    /** The kill came while it was written, and what it tells was not begun. */
    private void cutLastLine() {
        try {
            byte[] all = Files.readAllBytes(file);
            int from = all.length - 1;
            while (all[from - 1] != '\n') {
                from--;
            }
            int keep = from + (all.length - from) / 2;
            Files.write(file, Arrays.copyOf(all, keep), StandardOpenOption.TRUNCATE_EXISTING);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}

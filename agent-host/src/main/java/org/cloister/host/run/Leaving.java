package org.cloister.host.run;

import java.time.Duration;
import java.time.InstantSource;
import java.util.Optional;
import org.cloister.host.channel.Channels;
import org.cloister.host.ledger.Entry;
import org.cloister.host.ledger.Ledger;
import org.cloister.host.ledger.Times;

/** Tells VMs that are asked to end so on their channels, at once and after a restart; the ledger knows who they are. */
record Leaving(Ledger ledger, Times times, InstantSource clock, Channels channels) {
    /** That it is to end has just been written down, whoever wished it: a round may be long. */
    void asked(String uuid) {
        ledger.entry(uuid).ifPresent(this::tell);
    }

    void tell(Entry entry) {
        left(entry).ifPresent(time -> channels.leave(entry.owner().uuid(), time));
    }

    /** Whether what it says is still somebody's business. */
    boolean mayTalk(Entry entry) {
        return entry.end().isEmpty() || left(entry).isPresent();
    }

    private Optional<Duration> left(Entry entry) {
        return entry.end().flatMap(end -> times.left(end, clock.millis()));
    }
}

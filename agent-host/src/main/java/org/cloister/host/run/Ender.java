package org.cloister.host.run;

import java.io.IOException;
import java.time.InstantSource;
import org.cloister.host.HostMetrics;
import org.cloister.host.ledger.End;
import org.cloister.host.ledger.Ledger;
import org.cloister.host.machine.Rounds;

/** Ends VMs on behalf of others than the rounds, which do it then. */
record Ender(Ledger ledger, HostMetrics metrics, Rounds rounds, InstantSource clock) {
    /** On disk when this returns. Nothing happens to a VM that is ending, or is not in the ledger. */
    void end(String uuid, End.Why why) throws IOException {
        if (ledger.end(uuid, new End(why, "", clock.millis()))) {
            metrics.ended(why);
        }
        rounds.ring();
    }
}

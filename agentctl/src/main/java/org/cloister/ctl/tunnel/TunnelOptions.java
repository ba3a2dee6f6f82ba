package org.cloister.ctl.tunnel;

import java.io.IOException;
import java.nio.file.Path;
import org.cloister.base.process.Nft;
import org.cloister.ipsec.TunnelGuard;
import picocli.CommandLine.Option;

/** Option that selects the charon daemon. */
final class TunnelOptions {
    @Option(
            names = "--socket",
            paramLabel = "FILE",
            defaultValue = "/run/charon.vici",
            description = "Socket of charon (vici); default: ${DEFAULT-VALUE}.")
    @SuppressWarnings("NullAway.Init") // picocli sets it before use
    private Path socket;

    Path socket() {
        return socket;
    }

    /** State of the tunnel guard in words, or its fault. */
    record GuardState(boolean inPlace, String text) {
        static GuardState read() {
            try {
                TunnelGuard guard = TunnelGuard.read(Nft.ofThisMachine());
                return new GuardState(
                        true,
                        guard.device() + " " + guard.network() + ", for " + guard.by() + ", TCP segments of "
                                + guard.segment() + " bytes");
            } catch (IOException e) {
                return new GuardState(false, String.valueOf(e.getMessage()));
            }
        }
    }
}

package org.cloister.vm.system.network;

import java.io.IOException;
import org.cloister.base.process.Nft;
import org.cloister.base.process.ProcessRunner;

/**
 * The table {@code inet cloister_silence}: drops all TCP that this machine sends, except to one port. To other machines
 * it appears to have lost its power: no connection is closed, and none is refused.
 *
 * @param exceptPort the port
 */
public record OutboundTcpDropTable(int exceptPort) {
    static final String NAME = "cloister_silence";

    /** Installs the table for as long as the VM lives; idempotent. */
    public void install(ProcessRunner programs) throws IOException {
        Nft.on(programs).replaceTable(NAME, render());
    }

    String render() {
        return """
                table inet %s {
                	chain output {
                		type filter hook output priority filter; policy accept;
                		tcp dport != %d drop
                	}
                }
                """.formatted(NAME, exceptPort);
    }
}

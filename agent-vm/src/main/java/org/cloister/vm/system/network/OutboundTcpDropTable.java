package org.cloister.vm.system.network;

import java.io.IOException;
import java.util.List;
import org.cloister.base.process.ProcessRunner;

/**
 * The table {@code inet cloister_silence}: by TCP this machine says nothing more, but to one port. To all others it is
 * as if it had lost its power: no connection ends, and none is refused.
 *
 * @param exceptPort the port
 */
public record OutboundTcpDropTable(int exceptPort) {
    static final String NAME = "cloister_silence";

    /** For as long as the VM lives; again is nothing. */
    public void install(ProcessRunner programs) throws IOException {
        programs.runChecked(
                "table inet " + NAME + "\ndelete table inet " + NAME + "\n" + render(), List.of("nft", "-f", "-"));
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

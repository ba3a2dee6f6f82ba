package org.cloister.vm.network;

import java.io.IOException;
import java.util.List;
import org.cloister.vm.machine.Programs;

/**
 * The table {@code inet cloister_silence}: by TCP this machine says nothing more, but to one port. To all others it is as if it
 * had lost its power: no connection ends, and none is refused.
 *
 * @param but the port
 */
public record Silence(int but) {
    static final String NAME = "cloister_silence";

    /** For as long as the VM lives; again is nothing. */
    public void begin(Programs programs) throws IOException {
        programs.succeed(
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
                """.formatted(NAME, but);
    }
}

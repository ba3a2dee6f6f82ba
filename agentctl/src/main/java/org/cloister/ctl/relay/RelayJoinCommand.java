package org.cloister.ctl.relay;

import org.cloister.ctl.site.MachineJoinCommand;
import org.cloister.protocol.identity.CertificateRole;
import picocli.CommandLine.Command;

/** {@code agentctl relay join}: enrols the relay on this machine at its site. */
@Command(
        name = "join",
        description = "Enrols this relay, as root: makes its key, installs the site's certificate, and requests and "
                + "installs the relay's certificate over a relay of the token. Without one that answers it writes a "
                + "request to a file; run again when the site has answered, it installs the answer.")
final class RelayJoinCommand extends MachineJoinCommand {
    RelayJoinCommand() {
        super(CertificateRole.RELAY);
    }
}

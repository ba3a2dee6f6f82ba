package org.cloister.ctl.relay;

import org.cloister.ctl.site.MachineJoinCommand;
import org.cloister.protocol.identity.CertificateRole;
import picocli.CommandLine.Command;

/** {@code agentctl relay join}: enrols the relay on this machine at its site. */
@Command(
        name = "join",
        description = "Enrols this relay, as root: makes its key, installs the site's certificate and writes a request "
                + "for the relay's certificate. Run again when the site has answered, it installs the answer.")
final class RelayJoinCommand extends MachineJoinCommand {
    RelayJoinCommand() {
        super(CertificateRole.RELAY);
    }
}

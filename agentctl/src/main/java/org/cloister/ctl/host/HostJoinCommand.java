package org.cloister.ctl.host;

import org.cloister.ctl.site.MachineJoinCommand;
import org.cloister.protocol.identity.CertificateRole;
import picocli.CommandLine.Command;

/** {@code agentctl host join}: enrols this compute host at its site. */
@Command(
        name = "join",
        description = "Enrols this host, as root: makes its key, installs the site's certificate and writes a request "
                + "for the host's certificate. Run again when the site has answered, it installs the answer.")
final class HostJoinCommand extends MachineJoinCommand {
    HostJoinCommand() {
        super(CertificateRole.HOST);
    }
}

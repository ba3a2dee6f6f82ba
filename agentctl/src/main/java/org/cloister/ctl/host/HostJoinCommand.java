package org.cloister.ctl.host;

import org.cloister.ctl.site.MachineJoinCommand;
import org.cloister.protocol.identity.CertificateRole;
import picocli.CommandLine.Command;

/** {@code agentctl host join}: enrols this compute host at its site. */
@Command(
        name = "join",
        description = "Enrols this host, as root: makes its key, installs the site's certificate, and requests and "
                + "installs the host's certificate over a relay of the token. Without one that answers it writes a "
                + "request to a file; run again when the site has answered, it installs the answer.")
final class HostJoinCommand extends MachineJoinCommand {
    HostJoinCommand() {
        super(CertificateRole.HOST);
    }
}

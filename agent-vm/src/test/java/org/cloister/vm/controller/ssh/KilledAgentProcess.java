package org.cloister.vm.controller.ssh;

import java.nio.file.Path;
import org.cloister.protocol.identity.CertificateRole;

/** A process with a gateway and a session in it, to be killed. */
final class KilledAgentProcess {
    private KilledAgentProcess() {}

    public static void main(String[] args) throws Exception {
        SshGatewayFixture fixture = new SshGatewayFixture(Path.of(args[0]));
        fixture.new Person("ada7", CertificateRole.MEMBER)
                .calls(CertificateRole.MEMBER)
                .ssh("echo $$ > shell; exec sleep 7776");
    }
}

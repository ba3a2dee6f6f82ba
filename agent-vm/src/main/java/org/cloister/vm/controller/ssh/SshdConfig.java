package org.cloister.vm.controller.ssh;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.cloister.protocol.access.SshPublicKey;
import org.cloister.protocol.identity.CertificateRole;

/**
 * What sshd is told for one circuit, as its configuration file: one login, one key, and what the role has. All of it stands
 * here; the system's own file is not read.
 */
record SshdConfig(Path hostKey, String login, SshPublicKey key, CertificateRole role, String command) {
    /** Far below the relay's limit of silence. */
    private static final int ALIVE_S = 300;
    /** Behind it bash reads no file of the login's before it begins the command; see bash(1), "remote shell daemon". */
    private static final String NO_RC = "SHLVL=1";

    private static final String CIPHERS = "aes256-gcm@openssh.com";
    private static final String EXCHANGES = "ecdh-sha2-nistp384";
    /** Named, though the ciphers have tags of their own. */
    private static final String MACS = "hmac-sha2-512-etm@openssh.com,hmac-sha2-256-etm@openssh.com";

    String text() {
        List<String> lines = new ArrayList<>(List.of(
                "HostKey " + hostKey,
                "HostKeyAlgorithms " + SshPublicKey.KIND,
                "KexAlgorithms " + EXCHANGES,
                "Ciphers " + CIPHERS,
                "MACs " + MACS,
                "AllowUsers " + login,
                "AuthenticationMethods publickey",
                "PubkeyAuthentication yes",
                "PubkeyAcceptedAlgorithms " + SshPublicKey.KIND,
                // No file of the login's is asked whose key may come.
                "AuthorizedKeysFile none",
                "AuthorizedKeysCommand /bin/echo " + key,
                "AuthorizedKeysCommandUser root",
                "PasswordAuthentication no",
                "KbdInteractiveAuthentication no",
                "HostbasedAuthentication no",
                "PermitRootLogin no",
                "UsePAM no",
                "MaxAuthTries 3",
                "LoginGraceTime 30",
                "PermitUserRC no",
                "PermitUserEnvironment no",
                "AllowAgentForwarding no",
                "AllowStreamLocalForwarding no",
                "X11Forwarding no",
                "PermitTunnel no",
                "PermitListen none",
                "GatewayPorts no",
                "Compression no",
                "UseDNS no",
                "PrintMotd no",
                "PrintLastLog no",
                "PidFile none",
                "ClientAliveInterval " + ALIVE_S,
                "ClientAliveCountMax 3",
                "SetEnv " + NO_RC,
                "Subsystem sftp internal-sftp",
                "ForceCommand " + command));
        if (role == CertificateRole.MEMBER) {
            lines.add("AllowTcpForwarding local");
            lines.add("PermitOpen 127.0.0.1:* localhost:*");
        } else {
            lines.add("DisableForwarding yes");
            lines.add("PermitTTY no");
            lines.add("MaxSessions 1");
        }
        return String.join("\n", lines) + "\n";
    }
}

package org.cloister.vm.controller.ssh;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.cloister.protocol.access.SshPublicKey;
import org.cloister.protocol.identity.CertificateRole;

/**
 * sshd's configuration for one circuit: one login, one key, and the permissions of the role. It is complete; the
 * system's file is not read.
 */
record SshdConfig(Path hostKey, String login, SshPublicKey key, CertificateRole role, String command) {
    /** Seconds; far below the relay's idle timeout. */
    private static final int ALIVE_S = 300;
    /** Makes bash read no file of the login before it runs the command; see bash(1), "remote shell daemon". */
    private static final String NO_RC = "SHLVL=1";

    private static final String CIPHERS = "aes256-gcm@openssh.com";
    /**
     * The first is a hybrid, which OpenSSH 9.2 to 10.6 know by this name: from 10.1 on ssh warns its user of a key
     * exchange that is not post-quantum. The other is for devices in FIPS mode.
     */
    private static final String EXCHANGES = "sntrup761x25519-sha512@openssh.com,ecdh-sha2-nistp384";
    /** Set, although the ciphers authenticate by themselves. */
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
                // No file of the login decides whose key is accepted.
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

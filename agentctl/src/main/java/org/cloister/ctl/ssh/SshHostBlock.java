package org.cloister.ctl.ssh;

import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.cloister.protocol.identity.CertificateName;

/**
 * Host block of ssh_config(5) for a controlling VM.
 *
 * @param identity the key of the circuit's certificate
 * @param knownHosts file to which {@code proxy} writes the VM's host key as received in the circuit: ssh accepts only
 *     that key
 * @param proxy words of a command
 */
record SshHostBlock(CertificateName vm, String login, Path identity, Path knownHosts, List<String> proxy) {
    /**
     * Interval in seconds of ssh's keep-alive messages, the same as sshd's: the TCP connections do not show that a
     * relay has stopped forwarding. ssh ends the connection after three lost messages.
     */
    private static final int ALIVE_S = 300;

    /**
     * Seconds until sshd's first line must have arrived; without this limit ssh waits for it without end. Longer than
     * the command may take for its link, its circuit and the VM's grant.
     */
    private static final int CONNECT_S = 180;

    private static final Pattern PLAIN = Pattern.compile("[A-Za-z0-9_@:,./=+-]+");

    String render(String alias) {
        return "Host " + alias + "\n"
                + line("HostName", vm.toString())
                + line("HostKeyAlias", vm.toString())
                + line("User", login)
                + line("IdentityFile", quoted(identity))
                + line("IdentitiesOnly", "yes")
                + line("UserKnownHostsFile", quoted(knownHosts))
                + line("GlobalKnownHostsFile", "none")
                + line("StrictHostKeyChecking", "yes")
                + line("UpdateHostKeys", "no")
                + line("PasswordAuthentication", "no")
                + line("ForwardAgent", "no")
                + line("ConnectTimeout", String.valueOf(CONNECT_S))
                + line("ServerAliveInterval", String.valueOf(ALIVE_S))
                + line("ProxyCommand", command());
    }

    private static String line(String key, String value) {
        return "    " + key + " " + value + "\n";
    }

    /** Quotes a path for ssh, which expands tokens after percent signs. */
    private static String quoted(Path path) {
        return "\"" + path.toString().replace("%", "%%") + "\"";
    }

    /** Returns the command, quoted for the person's shell, to which ssh passes it. */
    private String command() {
        return proxy.stream()
                .map(SshHostBlock::shellQuote)
                .collect(Collectors.joining(" "))
                .replace("%", "%%");
    }

    static String shellQuote(String text) {
        return PLAIN.matcher(text).matches() ? text : "'" + text.replace("'", "'\\''") + "'";
    }
}

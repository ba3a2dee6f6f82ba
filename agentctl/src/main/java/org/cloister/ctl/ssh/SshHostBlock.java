package org.cloister.ctl.ssh;

import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.cloister.protocol.identity.CertificateName;

/**
 * A Host block of ssh_config(5) for a controlling VM.
 *
 * @param identity the key of the circuit's certificate
 * @param knownHosts where {@code proxy} writes the VM's host key, as it came in the circuit: ssh takes that one and no other
 * @param proxy a command's words
 */
record SshHostBlock(CertificateName vm, String login, Path identity, Path knownHosts, List<String> proxy) {
    /** As sshd asks: no connection of TCP's tells either that a relay passes nothing on any more. Three are lost before it ends. */
    private static final int ALIVE_S = 300;

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
                + line("ServerAliveInterval", String.valueOf(ALIVE_S))
                + line("ProxyCommand", command());
    }

    private static String line(String key, String value) {
        return "    " + key + " " + value + "\n";
    }

    /** For ssh, which knows tokens behind percent signs in it. */
    private static String quoted(Path path) {
        return "\"" + path.toString().replace("%", "%%") + "\"";
    }

    /** For the person's shell, to which ssh gives it. */
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

package org.cloister.ctl.site;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.cloister.base.process.ProcessRunner;

/**
 * Paths of a daemon's certificate, key and site certificate, which the daemon itself reads from its configuration.
 *
 * @param site certificates of the site's authority
 */
record DaemonCredentialFiles(Path certificate, Path key, Path site) {
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final Pattern OUTPUT =
            Pattern.compile("certificate=(/[^\\n]+)\\nkey=(/[^\\n]+)\\nsite=(/[^\\n]+)\\n");

    /**
     * Asks a daemon.
     *
     * @param program the daemon, which ends after it has printed the paths
     * @param config its configuration
     */
    static DaemonCredentialFiles of(Path program, Path config) throws IOException {
        List<String> command = List.of(program.toString(), "--credentials", config.toString());
        ProcessRunner.Output output;
        try {
            output = ProcessRunner.local().run("", command, LIMIT);
        } catch (ProcessRunner.NotStarted e) {
            throw new IOException(program + ": cannot be started; install the daemon's package first", e);
        }
        Matcher paths = OUTPUT.matcher(output.out());
        if (output.exit() != 0 || !paths.matches()) {
            throw new IOException(program + ": want the paths of its credentials, have: " + output.errorSummary()
                    + "; correct " + config + " first");
        }
        return new DaemonCredentialFiles(Path.of(paths.group(1)), Path.of(paths.group(2)), Path.of(paths.group(3)));
    }
}

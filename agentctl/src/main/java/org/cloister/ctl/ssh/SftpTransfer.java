package org.cloister.ctl.ssh;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.cloister.ctl.ExitCode;
import org.cloister.protocol.identity.CertificateRole;

/**
 * Transfers files with the device's own sftp. It has the person's terminal and time, so no {@code ProcessRunner} limits
 * it.
 */
final class SftpTransfer {
    private static final String ALIAS = "vm";
    private static final int UNREACHED = 255;

    private SftpTransfer() {}

    /**
     * Transfers files in the given role, with the login that the VM assigns to this person.
     *
     * @param verb put or get
     * @param paths sources, and the destination as the last element
     */
    static int run(ControllerVmOptions vm, CertificateRole role, String verb, List<String> paths)
            throws IOException, InterruptedException {
        int last = paths.size() - 1;
        return run(vm.hostBlock(role, vm.queryLogin(role)), verb, paths.subList(0, last), paths.get(last))
                .code();
    }

    @SuppressWarnings("SystemConsoleNull") // where it is never null, sftp itself checks for a terminal
    private static ExitCode run(SshHostBlock host, String verb, List<String> sources, String destination)
            throws IOException, InterruptedException {
        Path config = Files.createTempFile(host.knownHosts().resolveSibling("").toAbsolutePath(), "ssh_config", "");
        try {
            Files.writeString(config, host.render(ALIAS));
            Process sftp = new ProcessBuilder("sftp", "-F", config.toString(), "-b", "-", ALIAS)
                    .redirectOutput(ProcessBuilder.Redirect.INHERIT)
                    .redirectError(ProcessBuilder.Redirect.INHERIT)
                    .start();
            try (OutputStream commands = sftp.getOutputStream()) {
                commands.write(batchCommands(verb, sources, destination, System.console() != null)
                        .getBytes(StandardCharsets.UTF_8));
            }
            int status = sftp.waitFor();
            if (status == UNREACHED) {
                throw new IOException("sftp: the controlling VM was not reached, or accepted no key; see above");
            }
            return status == 0 ? ExitCode.OK : ExitCode.FAILURE;
        } finally {
            Files.deleteIfExists(config);
        }
    }

    /** Returns the batch commands for sftp, which stops at the first failure. */
    static String batchCommands(String verb, List<String> sources, String destination, boolean progress)
            throws IOException {
        List<String> lines = new ArrayList<>();
        if (progress) {
            lines.add("@progress");
        }
        for (String source : sources) {
            lines.add("@" + verb + " -R " + sftpQuote(source) + " " + sftpQuote(destination));
        }
        return String.join("\n", lines) + "\n";
    }

    /** Quotes a path for sftp, which takes wildcards in double quotes literally. */
    static String sftpQuote(String path) throws IOException {
        if (path.isEmpty() || path.chars().anyMatch(each -> each < ' ')) {
            throw new IOException("path: want characters without line breaks and other controls, have \""
                    + path.replaceAll("\\p{Cntrl}", "?") + "\"; rename it, or use rsync");
        }
        return "\"" + path.replace("\\", "\\\\").replace("\"", "\\\"") + "\"";
    }
}

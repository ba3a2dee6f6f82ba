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

/** Files through the device's own sftp. Its progress and its complaints are the person's to read. */
final class SftpTransfer {
    private static final String ALIAS = "vm";
    private static final int UNREACHED = 255;

    private SftpTransfer() {}

    /**
     * In a role that the VM takes this person in.
     *
     * @param verb put or get
     * @param paths sources, and last where they go
     */
    static int run(ControllerVmOptions vm, CertificateRole role, String verb, List<String> paths)
            throws IOException, InterruptedException {
        int last = paths.size() - 1;
        return run(vm.hostBlock(role, vm.queryLogin(role)), verb, paths.subList(0, last), paths.get(last))
                .code();
    }

    @SuppressWarnings("SystemConsoleNull") // where it is never null, sftp finds out itself whether somebody looks
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
                throw new IOException("sftp: the controlling VM was not reached, or took no key; see above");
            }
            return status == 0 ? ExitCode.OK : ExitCode.FAILURE;
        } finally {
            Files.deleteIfExists(config);
        }
    }

    /** What sftp reads, ending at the first thing that fails. */
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

    /** In double quotes sftp takes wildcards as they are. */
    static String sftpQuote(String path) throws IOException {
        if (path.isEmpty() || path.chars().anyMatch(each -> each < ' ')) {
            throw new IOException("path: want characters without line breaks and other controls, have \""
                    + path.replaceAll("\\p{Cntrl}", "?") + "\"; rename it, or take rsync");
        }
        return "\"" + path.replace("\\", "\\\\").replace("\"", "\\\"") + "\"";
    }
}

package org.cloister.vm.controller.jobsubmit;

import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.time.InstantSource;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.cloister.slurm.SlurmCommand;
import org.cloister.slurm.SlurmUnavailableException;

/**
 * The {@code job_submit.lua} in force. An invalid script stops slurmctld at its start, and a failing one accepts every
 * job; so only a script that passed staged calls in Lua is installed. Used by one thread.
 */
public final class JobSubmitPlugin {
    private static final String DATA = "local data = nil -- agent-vm's installation puts its data into this line\n";
    private static final Duration CHECK_LIMIT = Duration.ofMinutes(1);
    private static final int MARK_DIGITS = 12;

    private final Path source;
    private final Path installed;
    private final SlurmCommand slurm;
    private final InstantSource clock;
    private final SlurmCommand lua = new SlurmCommand(Optional.empty(), Optional.empty(), CHECK_LIMIT);

    /**
     * @param source the packaged script, without data
     * @param installed path beside slurm.conf, where slurmctld looks for it
     * @param slurm commands of the Local Slurm, run as root
     */
    public JobSubmitPlugin(Path source, Path installed, SlurmCommand slurm, InstantSource clock) {
        this.source = source;
        this.installed = installed;
        this.slurm = slurm;
        this.clock = clock;
    }

    /**
     * Installs the script for the next start of slurmctld.
     *
     * @throws SubmitPluginRefused if it did not pass; the earlier script remains
     */
    public void deploy(SubmitPluginData data) throws IOException {
        Script script = script(data);
        check(script);
        write(script.text());
    }

    /**
     * Installs the script and makes the running slurmctld load it.
     *
     * @throws SubmitPluginRefused if it did not pass or slurmctld did not load it; the earlier script is restored
     * @throws SlurmUnavailableException if slurmctld did not respond; the earlier script is restored
     */
    public void install(SubmitPluginData data) throws IOException {
        Optional<String> before = Files.exists(installed) ? Optional.of(Files.readString(installed)) : Optional.empty();
        deploy(data);
        boolean loaded = false;
        try {
            verify(data);
            loaded = true;
        } finally {
            if (!loaded && before.isPresent()) {
                write(before.get());
            }
        }
    }

    /**
     * Asks the running slurmctld which plugin it has: root's jobs are always refused, with a message that has the
     * plugin's mark. Without a plugin the job has no effect, since it is only a test.
     *
     * @throws SubmitPluginRefused if slurmctld has another plugin or none
     */
    public void verify(SubmitPluginData data) throws IOException {
        String mark = script(data).mark();
        // sbatch would retry for about 20 s.
        requireController(mark);
        SlurmCommand.Output output = slurm.run("sbatch", List.of("--test-only", "--chdir=/", "--wrap=true"), "");
        if (output.exit() != 0 && output.err().contains("(plugin " + mark + ")")) {
            return;
        }
        requireController(mark);
        throw new SubmitPluginRefused("submit plugin " + mark + ": slurmctld has not loaded it and answers \""
                + output.err().lines().findFirst().orElse(output.out()) + "\"; read slurmctld's log");
    }

    private void requireController(String mark) throws SlurmUnavailableException {
        SlurmCommand.Output ping = slurm.run("scontrol", List.of("ping"), "");
        if (!ping.out().contains(" UP")) {
            throw new SlurmUnavailableException("submit plugin " + mark
                    + ": slurmctld does not answer whether it has loaded it: "
                    + ping.complaint() + "; start slurmctld");
        }
    }

    private record Script(String mark, String text) {}

    private Script script(SubmitPluginData data) throws IOException {
        String packaged = Files.readString(source);
        int at = packaged.indexOf(DATA);
        if (at < 0) {
            throw new SubmitPluginRefused("submit plugin: want the line \"" + DATA.strip() + "\" in " + source
                    + ", have none; install the package again");
        }
        String mark = mark(data, packaged);
        return new Script(
                mark,
                packaged.substring(0, at)
                        + "local data = "
                        + data.lua(mark)
                        + "\n"
                        + packaged.substring(at + DATA.length()));
    }

    /** Computes the mark from the data and the script, so that a change of either is detected. */
    private static String mark(SubmitPluginData data, String packaged) {
        byte[] all = (packaged + data.lua("")).getBytes(StandardCharsets.UTF_8);
        try {
            byte[] digest = MessageDigest.getInstance("SHA-256").digest(all);
            return data.release() + "-" + HexFormat.of().formatHex(digest).substring(0, MARK_DIGITS);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException(e);
        }
    }

    private void check(Script script) throws IOException {
        String mark = script.mark();
        Path copy = Files.createTempFile("job_submit-", ".lua");
        try {
            Files.writeString(copy, script.text());
            SlurmCommand.Output output =
                    lua.run("lua5.1", List.of("-", copy.toString()), resource("stage.lua") + resource("check.lua"));
            if (output.exit() != 0 || !output.out().contains("(plugin " + mark + ")")) {
                throw new SubmitPluginRefused("submit plugin " + mark + ": not installed: its check in Lua failed: "
                        + output.err().lines().findFirst().orElse("the script answers " + output.out()));
            }
        } catch (SlurmUnavailableException e) {
            throw new SubmitPluginRefused("submit plugin " + mark + ": not installed: it cannot be checked: "
                    + e.getMessage() + "; install lua5.1");
        } finally {
            Files.delete(copy);
        }
    }

    /**
     * Replaces the file atomically, with a time at least one second later: slurmctld reloads it only if its time is a
     * later second.
     */
    private void write(String script) throws IOException {
        long seconds = clock.instant().getEpochSecond();
        if (Files.exists(installed)) {
            seconds = Math.max(seconds, Files.getLastModifiedTime(installed).to(TimeUnit.SECONDS) + 1);
        }
        Path next = installed.resolveSibling("." + installed.getFileName() + ".next");
        Files.writeString(next, script);
        Files.setPosixFilePermissions(next, PosixFilePermissions.fromString("rw-r--r--"));
        Files.setLastModifiedTime(next, FileTime.from(seconds, TimeUnit.SECONDS));
        Files.move(next, installed, StandardCopyOption.ATOMIC_MOVE);
    }

    static String resource(String name) throws IOException {
        try (InputStream in = JobSubmitPlugin.class.getResourceAsStream(name)) {
            if (in == null) {
                throw new FileNotFoundException(name + ": not in the jar");
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }
}

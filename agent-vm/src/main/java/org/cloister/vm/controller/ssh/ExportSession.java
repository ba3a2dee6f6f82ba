package org.cloister.vm.controller.ssh;

import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.RandomAccessFile;
import java.nio.channels.ClosedChannelException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Serves an exporter's session. The program that reads the files runs as the person's login, as a child of the agent,
 * and its bytes pass through here: each file is recorded before its first byte is sent. The session's own process is a
 * pipe, not a shell.
 */
final class ExportSession implements Runnable {
    private static final Logger LOG = LoggerFactory.getLogger(ExportSession.class);
    private static final int MAX_COMMAND = 16 * 1024;
    /** The longest path, with each byte in octal, and what precedes it. */
    private static final int MAX_LOG_LINE = 32 * 1024;

    private static final int PIECE_BYTES = 32 * 1024;
    private static final int END_LIMIT_MS = 5000;
    private static final int RETRY_MS = 20;
    /** Time for the disk, and for a process that holds the log open; bounded. */
    private static final int LOG_LIMIT_MS = 30_000;

    private static final List<Path> SFTP_SERVERS = List.of(
            Path.of("/usr/lib/openssh/sftp-server"),
            Path.of("/usr/libexec/openssh/sftp-server"),
            Path.of("/usr/lib/ssh/sftp-server"));
    /**
     * Time and process; then the format requested here: operation, size of the file, path without the first slash.
     * Other bytes are in octal.
     */
    private static final Pattern SENT = Pattern.compile("[0-9/]{10} [0-9:]{8} \\[[0-9]+\\] send ([0-9]{1,15}) (.*)");

    private static final Pattern OCTAL = Pattern.compile("\\\\#([0-7]{3})");

    private final SessionEnvironment environment;
    private final SshSession session;
    private final ExportRecorder recorder;
    private final Executor threads;
    private final CompletableFuture<Void> done = new CompletableFuture<>();
    private volatile @Nullable Process program;
    private volatile boolean stopped;
    private boolean started;

    ExportSession(SessionEnvironment environment, SshSession session, ExportAuditSink sink, Executor threads) {
        this.environment = environment;
        this.session = session;
        this.recorder = new ExportRecorder(sink, session.identity());
        this.threads = threads;
    }

    /** The export could not be recorded. */
    static final class NotRecordedException extends IOException {
        private static final long serialVersionUID = 1L;

        NotRecordedException(IOException cause) {
            super("the audit record cannot be written: " + cause.getMessage(), cause);
        }
    }

    void startSession() throws NotRecordedException {
        try {
            recorder.recordStart();
        } catch (IOException e) {
            throw new NotRecordedException(e);
        }
        started = true;
        threads.execute(this);
    }

    @Override
    public void run() {
        try (InputStream request = Files.newInputStream(session.pipe(SshSession.REQUEST_PIPE))) {
            String command = line(request);
            if (!stopped) {
                try (OutputStream response =
                        Files.newOutputStream(session.pipe(SshSession.RESPONSE_PIPE), StandardOpenOption.WRITE)) {
                    serve(command, request, response);
                }
            }
        } catch (IOException e) {
            if (!stopped) {
                LOG.warn("{}: {}", session.identity(), e.getMessage());
            }
        } finally {
            kill();
            try {
                recorder.recordEnd();
            } catch (IOException e) {
                LOG.error("{}: its end cannot be recorded: {}", session.identity(), e.getMessage());
            }
            done.complete(null);
        }
    }

    private void serve(String command, InputStream request, OutputStream response) throws IOException {
        Optional<RsyncCommand> rsync = RsyncCommand.parse(command);
        if (command.equals("internal-sftp")) {
            serveSftp(request, response);
        } else if (rsync.isPresent()) {
            serveRsync(rsync.get(), request, response);
        } else {
            LOG.warn("{}: refused: its command is neither sftp nor rsync", session.identity());
            writeLine(
                    response,
                    "cloister: an exporter may use sftp, or rsync with paths without wildcards;"
                            + " for other commands log in as a member");
        }
    }

    private static void writeLine(OutputStream response, String line) throws IOException {
        response.write((line + "\n").getBytes(StandardCharsets.US_ASCII));
        response.flush();
    }

    private void serveSftp(InputStream request, OutputStream response) throws IOException {
        Path server = SFTP_SERVERS.stream()
                .filter(Files::isExecutable)
                .findFirst()
                .orElseThrow(() -> new IOException("sftp-server: want one of " + SFTP_SERVERS + ", have none"));
        SftpMonitor monitor = new SftpMonitor(new SftpMonitor.FileListener() {
            @Override
            public void onOpen(byte[] path) throws IOException {
                recorder.recordOpen(path);
            }

            @Override
            public void onSent(byte[] path, long bytes) throws IOException {
                recorder.sent(path, bytes);
            }
        });
        Process process = start(List.of("--init-groups"), List.of(server.toString(), "-R", "-d", home().toString()));
        writeLine(response, "ok");
        threads.execute(() -> feedProgram(process, to -> monitor.relayRequests(request, to)));
        monitor.relayResponses(process.getInputStream(), response);
    }

    private void serveRsync(RsyncCommand command, InputStream request, OutputStream response) throws IOException {
        for (String path : command.paths()) {
            recorder.recordOpen(path.getBytes(StandardCharsets.UTF_8));
        }
        Path log = session.pipe(SshSession.LOG_PIPE);
        List<String> arguments = new ArrayList<>(
                List.of("rsync", "--server", "--sender", "--log-file=" + log, "--log-file-format=%o %l %f"));
        arguments.addAll(command.options());
        arguments.add(".");
        arguments.addAll(command.paths());
        // Open at both ends, so that neither waits for an rsync that never opens it.
        try (RandomAccessFile keptOpen = new RandomAccessFile(log.toFile(), "rw");
                InputStream from = Files.newInputStream(log)) {
            CompletableFuture<Void> logged = CompletableFuture.runAsync(() -> readLog(from), threads);
            try (keptOpen) {
                Process process = start(List.of("--groups=" + groups() + "," + SshSession.LOG_GID), arguments);
                writeLine(response, "ok");
                threads.execute(() -> feedProgram(process, to -> copy(request, to)));
                copy(process.getInputStream(), response);
            }
            // What remains in the pipe is recorded, too.
            logged.copy()
                    .completeOnTimeout(null, LOG_LIMIT_MS, TimeUnit.MILLISECONDS)
                    .join();
        }
    }

    /** Copies without buffering, since the other side waits for the bytes. */
    private static void copy(InputStream from, OutputStream to) throws IOException {
        byte[] piece = new byte[PIECE_BYTES];
        for (int n = from.read(piece); n >= 0; n = from.read(piece)) {
            to.write(piece, 0, n);
            to.flush();
        }
    }

    private interface Feed {
        void to(OutputStream program) throws IOException;
    }

    /** Copies to the program; a failure ends the program, and thereby the other direction. */
    private void feedProgram(Process process, Feed feed) {
        try (OutputStream to = process.getOutputStream()) {
            feed.to(to);
        } catch (IOException e) {
            if (!stopped && process.isAlive()) {
                LOG.warn("{}: ended: {}", session.identity(), e.getMessage());
            }
            process.destroyForcibly();
        }
    }

    private void readLog(InputStream log) {
        try (InputStream from = new BufferedInputStream(log)) {
            for (Optional<String> line = logLine(from); line.isPresent(); line = logLine(from)) {
                Matcher sent = SENT.matcher(line.get());
                if (sent.matches()) {
                    recorder.sent(path(sent.group(2)), Long.parseLong(sent.group(1)));
                }
            }
        } catch (ClosedChannelException e) {
            LOG.debug("{}: its log is over", session.identity());
        } catch (IOException e) {
            LOG.error("{}: stopped: it cannot be recorded: {}", session.identity(), e.getMessage());
            kill();
        }
    }

    /** Returns the next line; empty at the end. */
    private static Optional<String> logLine(InputStream from) throws IOException {
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        int each = from.read();
        if (each < 0) {
            return Optional.empty();
        }
        for (; each >= 0 && each != '\n'; each = from.read()) {
            if (line.size() == MAX_LOG_LINE) {
                throw new IOException(
                        "rsync's log: want lines of at most " + MAX_LOG_LINE + " bytes, have a longer one");
            }
            line.write(each);
        }
        return Optional.of(line.toString(StandardCharsets.ISO_8859_1));
    }

    private static byte[] path(String logged) {
        ByteArrayOutputStream path = new ByteArrayOutputStream();
        path.write('/');
        Matcher octal = OCTAL.matcher(logged);
        int at = 0;
        while (octal.find()) {
            path.writeBytes(logged.substring(at, octal.start()).getBytes(StandardCharsets.ISO_8859_1));
            path.write(Integer.parseInt(octal.group(1), 8));
            at = octal.end();
        }
        path.writeBytes(logged.substring(at).getBytes(StandardCharsets.ISO_8859_1));
        return path.toByteArray();
    }

    /** Returns the login's groups, as setpriv accepts them. */
    private String groups() throws IOException {
        return environment
                .programs()
                .runChecked("id", "-G", session.identity().member().login())
                .strip()
                .replace(' ', ',');
    }

    /** Starts a program that streams for as long as the transfer lasts, which {@code ProcessRunner} would limit. */
    private Process start(List<String> groups, List<String> command) throws IOException {
        int uid = session.identity().member().uid();
        int gid = session.identity().member().gid();
        List<String> argv = new ArrayList<>(
                environment.programs().argv(List.of("setpriv", "--reuid=" + uid, "--regid=" + gid, "--inh-caps=-all")));
        argv.addAll(groups);
        argv.addAll(List.of("/bin/sh", "-c", "cd \"$1\" && shift && exec \"$@\"", "sh", home().toString()));
        argv.addAll(command);
        ProcessBuilder builder = new ProcessBuilder(argv).redirectError(ProcessBuilder.Redirect.DISCARD);
        builder.environment().clear();
        builder.environment().putAll(Map.of("PATH", "/usr/bin:/bin", "LC_ALL", "C.UTF-8", "HOME", home().toString()));
        Process process = builder.start();
        program = process;
        if (stopped) {
            kill();
        }
        return process;
    }

    private Path home() {
        return environment.homes().resolve(session.identity().member().login());
    }

    private static String line(InputStream from) throws IOException {
        ByteArrayOutputStream line = new ByteArrayOutputStream();
        for (int each = from.read(); each >= 0 && each != '\n'; each = from.read()) {
            if (line.size() == MAX_COMMAND) {
                throw new IOException("command: want at most " + MAX_COMMAND + " bytes, have more");
            }
            line.write(each);
        }
        return line.toString(StandardCharsets.UTF_8);
    }

    private void kill() {
        Process process = program;
        if (process != null) {
            process.destroyForcibly();
        }
    }

    /** Stops the session; blocks until nothing of it remains, for a few seconds at most. */
    void stop() throws IOException {
        stopped = true;
        kill();
        if (!started) {
            return;
        }
        release(session.pipe(SshSession.REQUEST_PIPE), done);
        release(session.pipe(SshSession.RESPONSE_PIPE), done);
    }

    /**
     * Opens the other end of the pipe, so that a thread or process that waits for it continues and finds no peer;
     * repeats this until the end is complete.
     */
    private static void release(Path pipe, CompletableFuture<?> ended) throws IOException {
        for (int ms = 0; ms < END_LIMIT_MS && !ended.isDone(); ms += RETRY_MS) {
            if (Files.exists(pipe, LinkOption.NOFOLLOW_LINKS)) {
                new RandomAccessFile(pipe.toFile(), "rw").close();
            }
            ended.copy()
                    .completeOnTimeout(null, RETRY_MS, TimeUnit.MILLISECONDS)
                    .join();
        }
    }
}

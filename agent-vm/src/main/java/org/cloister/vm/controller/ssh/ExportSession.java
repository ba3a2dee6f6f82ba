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
    private static final int ENDING_MS = 5000;
    private static final int AGAIN_MS = 20;
    /** Time for the disk, and for a process that holds the log open; bounded. */
    private static final int LOGGED_MS = 30_000;

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

    private final SessionEnvironment place;
    private final SshSession session;
    private final ExportRecorder records;
    private final Executor threads;
    private final CompletableFuture<Void> done = new CompletableFuture<>();
    private volatile @Nullable Process program;
    private volatile boolean over;
    private boolean begun;

    ExportSession(SessionEnvironment place, SshSession session, ExportAuditSink records, Executor threads) {
        this.place = place;
        this.session = session;
        this.records = new ExportRecorder(records, session.identity());
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
            records.recordStart();
        } catch (IOException e) {
            throw new NotRecordedException(e);
        }
        begun = true;
        threads.execute(this);
    }

    @Override
    public void run() {
        try (InputStream ask = Files.newInputStream(session.pipe(SshSession.REQUEST_PIPE))) {
            String command = line(ask);
            if (!over) {
                try (OutputStream answer =
                        Files.newOutputStream(session.pipe(SshSession.RESPONSE_PIPE), StandardOpenOption.WRITE)) {
                    serve(command, ask, answer);
                }
            }
        } catch (IOException e) {
            if (!over) {
                LOG.warn("{}: {}", session.identity(), e.getMessage());
            }
        } finally {
            kill();
            try {
                records.recordEnd();
            } catch (IOException e) {
                LOG.error("{}: its end is not recorded: {}", session.identity(), e.getMessage());
            }
            done.complete(null);
        }
    }

    private void serve(String command, InputStream ask, OutputStream answer) throws IOException {
        Optional<RsyncCommand> rsync = RsyncCommand.parse(command);
        if (command.equals("internal-sftp")) {
            sftp(ask, answer);
        } else if (rsync.isPresent()) {
            rsync(rsync.get(), ask, answer);
        } else {
            LOG.warn("{}: another command than sftp and rsync's", session.identity());
            say(
                    answer,
                    "cloister: an exporter takes data out by sftp, or by rsync with paths without wildcards; for anything"
                            + " else come as a member");
        }
    }

    private static void say(OutputStream answer, String line) throws IOException {
        answer.write((line + "\n").getBytes(StandardCharsets.US_ASCII));
        answer.flush();
    }

    private void sftp(InputStream ask, OutputStream answer) throws IOException {
        Path server = SFTP_SERVERS.stream()
                .filter(Files::isExecutable)
                .findFirst()
                .orElseThrow(() -> new IOException("sftp-server: want one of " + SFTP_SERVERS + ", have none"));
        SftpMonitor watch = new SftpMonitor(new SftpMonitor.FileListener() {
            @Override
            public void onOpen(byte[] path) throws IOException {
                records.recordOpen(path);
            }

            @Override
            public void onSent(byte[] path, long bytes) throws IOException {
                records.sent(path, bytes);
            }
        });
        Process run = start(List.of("--init-groups"), List.of(server.toString(), "-R", "-d", home().toString()));
        say(answer, "ok");
        threads.execute(() -> feed(run, to -> watch.relayRequests(ask, to)));
        watch.relayResponses(run.getInputStream(), answer);
    }

    private void rsync(RsyncCommand command, InputStream ask, OutputStream answer) throws IOException {
        for (String path : command.paths()) {
            records.recordOpen(path.getBytes(StandardCharsets.UTF_8));
        }
        Path log = session.pipe(SshSession.LOG_PIPE);
        List<String> words = new ArrayList<>(
                List.of("rsync", "--server", "--sender", "--log-file=" + log, "--log-file-format=%o %l %f"));
        words.addAll(command.options());
        words.add(".");
        words.addAll(command.paths());
        // Open at both ends, so that neither waits for an rsync that never opens it.
        try (RandomAccessFile kept = new RandomAccessFile(log.toFile(), "rw");
                InputStream from = Files.newInputStream(log)) {
            CompletableFuture<Void> logged = CompletableFuture.runAsync(() -> readLog(from), threads);
            try (kept) {
                Process run = start(List.of("--groups=" + groups() + "," + SshSession.LOG_GID), words);
                say(answer, "ok");
                threads.execute(() -> feed(run, to -> copy(ask, to)));
                copy(run.getInputStream(), answer);
            }
            // What remains in the pipe is recorded, too.
            logged.copy()
                    .completeOnTimeout(null, LOGGED_MS, TimeUnit.MILLISECONDS)
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
    private void feed(Process run, Feed feed) {
        try (OutputStream to = run.getOutputStream()) {
            feed.to(to);
        } catch (IOException e) {
            if (!over && run.isAlive()) {
                LOG.warn("{}: ended: {}", session.identity(), e.getMessage());
            }
            run.destroyForcibly();
        }
    }

    private void readLog(InputStream log) {
        try (InputStream from = new BufferedInputStream(log)) {
            for (Optional<String> line = logLine(from); line.isPresent(); line = logLine(from)) {
                Matcher sent = SENT.matcher(line.get());
                if (sent.matches()) {
                    records.sent(path(sent.group(2)), Long.parseLong(sent.group(1)));
                }
            }
        } catch (ClosedChannelException e) {
            LOG.debug("{}: its log is over", session.identity());
        } catch (IOException e) {
            LOG.error("{}: ended, for it is not recorded: {}", session.identity(), e.getMessage());
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
        return place.programs()
                .runChecked("id", "-G", session.identity().member().login())
                .strip()
                .replace(' ', ',');
    }

    private Process start(List<String> groups, List<String> command) throws IOException {
        int uid = session.identity().member().uid();
        int gid = session.identity().member().gid();
        List<String> argv = new ArrayList<>(
                place.programs().argv(List.of("setpriv", "--reuid=" + uid, "--regid=" + gid, "--inh-caps=-all")));
        argv.addAll(groups);
        argv.addAll(List.of("/bin/sh", "-c", "cd \"$1\" && shift && exec \"$@\"", "sh", home().toString()));
        argv.addAll(command);
        ProcessBuilder builder = new ProcessBuilder(argv).redirectError(ProcessBuilder.Redirect.DISCARD);
        builder.environment().clear();
        builder.environment().putAll(Map.of("PATH", "/usr/bin:/bin", "LC_ALL", "C.UTF-8", "HOME", home().toString()));
        Process run = builder.start();
        program = run;
        if (over) {
            kill();
        }
        return run;
    }

    private Path home() {
        return place.homes().resolve(session.identity().member().login());
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
        Process run = program;
        if (run != null) {
            run.destroyForcibly();
        }
    }

    /** Stops the session; blocks until nothing of it remains, for a few seconds at most. */
    void stop() throws IOException {
        over = true;
        kill();
        if (!begun) {
            return;
        }
        release(session.pipe(SshSession.REQUEST_PIPE), done);
        release(session.pipe(SshSession.RESPONSE_PIPE), done);
    }

    /**
     * Opens the other end of the pipe, so that a thread or process that waits for it continues and finds no peer;
     * repeats this until the end is complete.
     */
    private static void release(Path pipe, CompletableFuture<?> end) throws IOException {
        for (int ms = 0; ms < ENDING_MS && !end.isDone(); ms += AGAIN_MS) {
            if (Files.exists(pipe, LinkOption.NOFOLLOW_LINKS)) {
                new RandomAccessFile(pipe.toFile(), "rw").close();
            }
            end.copy().completeOnTimeout(null, AGAIN_MS, TimeUnit.MILLISECONDS).join();
        }
    }
}

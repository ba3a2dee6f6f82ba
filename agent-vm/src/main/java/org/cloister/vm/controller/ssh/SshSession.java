package org.cloister.vm.controller.ssh;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryNotEmptyException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.FileAttribute;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Executor;
import org.cloister.protocol.access.SshPublicKey;
import org.cloister.protocol.handover.LoginRules;
import org.cloister.protocol.identity.CertificateName;
import org.cloister.protocol.identity.CertificateRole;
import org.cloister.vm.system.users.ProjectMember;

/** A session: its folder, its sshd and their processes. Calls block. */
final class SshSession {
    private static final FileAttribute<Set<PosixFilePermission>> TRAVERSABLE =
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx--x--x"));
    private static final FileAttribute<Set<PosixFilePermission>> ROOT_ONLY =
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));
    static final String REQUEST_PIPE = "ask";
    static final String RESPONSE_PIPE = "answer";
    static final String LOG_PIPE = "log";

    /**
     * Group of the one process that writes the log, and of no login: no other process of the login can read it or write
     * to it.
     */
    static final int LOG_GID = LoginRules.MOST_ID + 1;

    private static final List<String> PIPES = List.of(REQUEST_PIPE, RESPONSE_PIPE);
    private static final String CONFIG = "sshd_config";
    private static final String PID = "pid";

    private final SessionEnvironment environment;
    private final Identity identity;
    private final Path folder;
    private final Optional<ExportSession> export;

    /**
     * Identity of the session's person.
     *
     * @param number of the session, unique in the VM's life
     * @param keyId of the key in the person's certificate, which is {@code key}
     */
    record Identity(
            long number,
            CertificateName person,
            CertificateRole role,
            ProjectMember member,
            String keyId,
            SshPublicKey key) {
        @Override
        public String toString() {
            return "session=" + number + " person=" + person.id() + " role=" + role + " login=" + member.login();
        }
    }

    SshSession(SessionEnvironment environment, Identity identity, ExportAuditSink records, Executor threads) {
        this.environment = environment;
        this.identity = identity;
        this.export = identity.role() == CertificateRole.EXPORTER
                ? Optional.of(new ExportSession(environment, this, records, threads))
                : Optional.empty();
        this.folder = environment.folder().resolve(String.valueOf(identity.number()));
    }

    Identity identity() {
        return identity;
    }

    Path pipe(String name) {
        return folder.resolve(name);
    }

    /**
     * Starts the session's sshd, which has everything that it needs on return and reads SSH's bytes next.
     *
     * @throws ExportSession.NotRecordedException if the session would export data, and that cannot be recorded
     */
    SshdLauncher.Streams start(SshdLauncher launcher) throws IOException {
        createFolder();
        if (export.isPresent()) {
            export.get().startSession();
        }
        SshdLauncher.Streams streams = launcher.start();
        streams.in().write((identity.number() + "\n").getBytes(StandardCharsets.US_ASCII));
        streams.in().flush();
        return streams;
    }

    private void createFolder() throws IOException {
        Files.createDirectory(folder);
        // Independent of the umask.
        Files.setPosixFilePermissions(folder, TRAVERSABLE.value());
        String command = identity.role() == CertificateRole.MEMBER
                ? environment.scripts().resolve("member-session").toString()
                : environment.scripts().resolve("export-session") + " " + folder;
        SshdConfig config = new SshdConfig(
                environment.hostKey().file(), identity.member().login(), identity.key(), identity.role(), command);
        Files.write(
                Files.createFile(folder.resolve(CONFIG), ROOT_ONLY),
                config.text().getBytes(StandardCharsets.US_ASCII));
        if (identity.role() == CertificateRole.EXPORTER) {
            for (String name : PIPES) {
                environment
                        .programs()
                        .runChecked("mkfifo", "-m", "600", pipe(name).toString());
                Files.setAttribute(pipe(name), "unix:uid", identity.member().uid(), LinkOption.NOFOLLOW_LINKS);
            }
            environment
                    .programs()
                    .runChecked("mkfifo", "-m", "620", pipe(LOG_PIPE).toString());
            Files.setAttribute(pipe(LOG_PIPE), "unix:gid", LOG_GID, LinkOption.NOFOLLOW_LINKS);
        }
    }

    /**
     * Stops everything that was started for the session.
     *
     * @param release ends sshd's input
     */
    void stop(Runnable release) throws IOException {
        // A session's process that has not written its PID by now finds no configuration to start sshd with.
        Files.deleteIfExists(folder.resolve(CONFIG));
        Optional<SshSessionProcesses> processes = processes();
        release.run();
        if (export.isPresent()) {
            export.get().stop();
        }
        if (processes.isPresent()) {
            processes.get().stop();
        }
        remove();
    }

    private Optional<SshSessionProcesses> processes() throws IOException {
        return SshSessionProcesses.of(environment.programs(), folder.resolve(PID));
    }

    /** Deletes the folder. While it exists, the session's process may still write its PID, which it does once. */
    private void remove() throws IOException {
        for (String name : List.of(REQUEST_PIPE, RESPONSE_PIPE, LOG_PIPE)) {
            Files.deleteIfExists(folder.resolve(name));
        }
        try {
            removeEmpty();
        } catch (DirectoryNotEmptyException e) {
            removeEmpty();
        }
    }

    private void removeEmpty() throws IOException {
        Optional<SshSessionProcesses> processes = processes();
        if (processes.isPresent()) {
            processes.get().stop();
        }
        Files.deleteIfExists(folder.resolve(PID));
        Files.deleteIfExists(folder);
    }
}

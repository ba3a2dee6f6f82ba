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
    private static final FileAttribute<Set<PosixFilePermission>> PASSED =
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx--x--x"));
    private static final FileAttribute<Set<PosixFilePermission>> OURS =
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

    private final SessionEnvironment place;
    private final Identity who;
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

    SshSession(SessionEnvironment place, Identity who, ExportAuditSink records, Executor threads) {
        this.place = place;
        this.who = who;
        this.export = who.role() == CertificateRole.EXPORTER
                ? Optional.of(new ExportSession(place, this, records, threads))
                : Optional.empty();
        this.folder = place.folder().resolve(String.valueOf(who.number()));
    }

    Identity identity() {
        return who;
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
        SshdLauncher.Streams ends = launcher.start();
        ends.in().write((who.number() + "\n").getBytes(StandardCharsets.US_ASCII));
        ends.in().flush();
        return ends;
    }

    private void createFolder() throws IOException {
        Files.createDirectory(folder);
        // Independent of the umask.
        Files.setPosixFilePermissions(folder, PASSED.value());
        String command = who.role() == CertificateRole.MEMBER
                ? place.scripts().resolve("member-session").toString()
                : place.scripts().resolve("export-session") + " " + folder;
        SshdConfig settings =
                new SshdConfig(place.hostKey().file(), who.member().login(), who.key(), who.role(), command);
        Files.write(
                Files.createFile(folder.resolve(CONFIG), OURS), settings.text().getBytes(StandardCharsets.US_ASCII));
        if (who.role() == CertificateRole.EXPORTER) {
            for (String name : PIPES) {
                place.programs().runChecked("mkfifo", "-m", "600", pipe(name).toString());
                Files.setAttribute(pipe(name), "unix:uid", who.member().uid(), LinkOption.NOFOLLOW_LINKS);
            }
            place.programs().runChecked("mkfifo", "-m", "620", pipe(LOG_PIPE).toString());
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
        return SshSessionProcesses.of(place.programs(), folder.resolve(PID));
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
        Optional<SshSessionProcesses> late = processes();
        if (late.isPresent()) {
            late.get().stop();
        }
        Files.deleteIfExists(folder.resolve(PID));
        Files.deleteIfExists(folder);
    }
}

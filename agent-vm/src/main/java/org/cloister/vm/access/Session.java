package org.cloister.vm.access;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
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
import org.cloister.protocol.access.SshKey;
import org.cloister.protocol.handover.Login;
import org.cloister.protocol.identity.Name;
import org.cloister.protocol.identity.Role;
import org.cloister.vm.users.Member;

/** One session's folder, sshd and what belongs to it. Calls block. */
final class Session {
    private static final FileAttribute<Set<PosixFilePermission>> PASSED =
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx--x--x"));
    private static final FileAttribute<Set<PosixFilePermission>> OURS =
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"));
    static final String ASK = "ask";
    static final String ANSWER = "answer";
    static final String LOG = "log";

    /** Of the one process that writes the log, and of no login: no other of its own reads it or writes there. */
    static final int LOG_GID = Login.MOST_ID + 1;

    private static final List<String> PIPES = List.of(ASK, ANSWER);

    private final Place place;
    private final Who who;
    private final Path folder;
    private final Optional<Export> export;

    /**
     * Whose it is.
     *
     * @param number of the session, each once in the VM's life
     * @param keyId of the key in the person's certificate, which is {@code key}
     */
    record Who(long number, Name person, Role role, Member member, String keyId, SshKey key) {
        @Override
        public String toString() {
            return "session=" + number + " person=" + person.id() + " role=" + role + " login=" + member.login();
        }
    }

    Session(Place place, Who who, Records records, Executor threads) {
        this.place = place;
        this.who = who;
        this.export =
                who.role() == Role.EXPORTER ? Optional.of(new Export(place, this, records, threads)) : Optional.empty();
        this.folder = place.folder().resolve(String.valueOf(who.number()));
    }

    Who who() {
        return who;
    }

    Path pipe(String name) {
        return folder.resolve(name);
    }

    /**
     * Its sshd is told all, and reads SSH's bytes next.
     *
     * @throws Export.Unrecorded if it would take data out, and that cannot be recorded
     */
    Launcher.Ends begin(Launcher launcher) throws IOException {
        lay();
        if (export.isPresent()) {
            export.get().begin();
        }
        Launcher.Ends ends = launcher.start();
        ends.in().write((who.number() + "\n").getBytes(StandardCharsets.US_ASCII));
        ends.in().flush();
        return ends;
    }

    private void lay() throws IOException {
        Files.createDirectory(folder);
        // Whatever umask there is.
        Files.setPosixFilePermissions(folder, PASSED.value());
        String command = who.role() == Role.MEMBER
                ? place.scripts().resolve("member-session").toString()
                : place.scripts().resolve("export-session") + " " + folder;
        SshdSettings settings =
                new SshdSettings(place.hostKey().file(), who.member().login(), who.key(), who.role(), command);
        Files.write(
                Files.createFile(folder.resolve("sshd_config"), OURS),
                settings.text().getBytes(StandardCharsets.US_ASCII));
        if (who.role() == Role.EXPORTER) {
            for (String name : PIPES) {
                place.programs().succeed("mkfifo", "-m", "600", pipe(name).toString());
                Files.setAttribute(pipe(name), "unix:uid", who.member().uid(), LinkOption.NOFOLLOW_LINKS);
            }
            place.programs().succeed("mkfifo", "-m", "620", pipe(LOG).toString());
            Files.setAttribute(pipe(LOG), "unix:gid", LOG_GID, LinkOption.NOFOLLOW_LINKS);
        }
    }

    /**
     * Whatever was begun of it ends.
     *
     * @param release tells sshd that no more comes
     */
    void end(Runnable release) throws IOException {
        Optional<SessionProcesses> processes = SessionProcesses.of(place.programs(), folder.resolve("pid"));
        release.run();
        if (export.isPresent()) {
            export.get().end();
        }
        if (processes.isPresent()) {
            processes.get().end();
        }
        for (String name : List.of(ASK, ANSWER, LOG, "pid", "sshd_config")) {
            Files.deleteIfExists(folder.resolve(name));
        }
        Files.deleteIfExists(folder);
    }
}

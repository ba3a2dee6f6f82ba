package org.cloister.vm.users;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.cloister.daemon.TomlReader;

/** A project's members: each login and each uid once, ordered as in their file. */
public record Members(List<Member> list) {
    private static final int MAX = 2000;
    /** That daemons here or hereafter run as; what the system has beside them, {@link NameFiles} refuses. */
    private static final Set<String> SYSTEM = Set.of(
            "root",
            "nobody",
            "nogroup",
            "daemon",
            "bin",
            "sys",
            "adm",
            "mail",
            "man",
            "sync",
            "games",
            "sshd",
            "munge",
            "slurm",
            "mysql",
            "messagebus",
            "systemd",
            "operator",
            "halt",
            "shutdown",
            "wheel",
            "sudo",
            "cloister");

    /** @throws IllegalArgumentException if two share a name or uid, or one has a name of the system */
    public Members {
        list = List.copyOf(list);
        Set<String> logins = new HashSet<>();
        Set<Integer> uids = new HashSet<>();
        for (Member member : list) {
            if (isSystem(member.login())) {
                throw new IllegalArgumentException("login: want none of the system's names, have " + member.login());
            }
            if (!logins.add(member.login())) {
                throw new IllegalArgumentException("login: want each once, have " + member.login() + " twice");
            }
            if (!uids.add(member.uid())) {
                throw new IllegalArgumentException(
                        "uid of " + member.login() + ": want each once, have " + member.uid() + " twice");
            }
        }
    }

    /**
     * Reads tables {@code [[member]]} of {@code login}, {@code uid}, {@code gid}.
     *
     * @throws org.cloister.daemon.BadConfigException with all that is wrong
     */
    public static Members load(Path file) throws IOException {
        TomlReader toml = TomlReader.open(file);
        List<Member> list = new ArrayList<>();
        for (TomlReader table : toml.tables("member", MAX)) {
            table.require("login", "uid", "gid");
            String login = table.text("login", "someone");
            int uid = table.number("uid", Member.LEAST_ID, Member.LEAST_ID, Member.MOST_ID);
            int gid = table.number("gid", Member.LEAST_ID, Member.LEAST_ID, Member.MOST_ID);
            if (!table.has("login") || !table.has("uid")) {
                continue;
            }
            try {
                add(list, new Member(login, uid, gid));
            } catch (IllegalArgumentException e) {
                table.problem("login", String.valueOf(e.getMessage()));
            }
        }
        toml.finish();
        return new Members(list);
    }

    /** Against those before it, so that each line has its own problem. */
    private static void add(List<Member> list, Member next) {
        List<Member> with = new ArrayList<>(list);
        with.add(next);
        new Members(with);
        list.add(next);
    }

    private static boolean isSystem(String login) {
        return SYSTEM.contains(login) || login.startsWith("systemd-") || login.startsWith("cloister-");
    }
}

package org.cloister.vm.users;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.cloister.daemon.TomlReader;
import org.cloister.protocol.handover.Login;

/** A project's members: each login and each uid once, ordered as in their file. Names that this system has besides, {@link NameFiles} refuses. */
public record Members(List<Member> list) {
    private static final int MAX = 2000;

    /** @throws IllegalArgumentException if two share a name, uid or person, or one has a name of the system */
    public Members {
        list = List.copyOf(list);
        Set<String> logins = new HashSet<>();
        Set<Integer> uids = new HashSet<>();
        Set<String> persons = new HashSet<>();
        for (Member member : list) {
            if (Login.isSystem(member.login())) {
                throw new IllegalArgumentException("login: want none of the system's names, have " + member.login());
            }
            if (!logins.add(member.login())) {
                throw new IllegalArgumentException("login: want each once, have " + member.login() + " twice");
            }
            if (!uids.add(member.uid())) {
                throw new IllegalArgumentException(
                        "uid of " + member.login() + ": want each once, have " + member.uid() + " twice");
            }
            member.person().filter(person -> !persons.add(person)).ifPresent(person -> {
                throw new IllegalArgumentException(
                        "person of " + member.login() + ": want each once, have " + person + " twice");
            });
        }
    }

    /** As whom a person comes. */
    public Optional<Member> ofPerson(String id) {
        return list.stream()
                .filter(member -> member.person().filter(id::equals).isPresent())
                .findFirst();
    }

    /**
     * Reads tables {@code [[member]]} of {@code login}, {@code uid}, {@code gid}, and {@code person} if one comes by circuit.
     *
     * @throws org.cloister.daemon.BadConfigException with all that is wrong
     */
    public static Members load(Path file) throws IOException {
        return read(TomlReader.open(file));
    }

    /**
     * The same of what came as bytes.
     *
     * @param file that problems name
     */
    public static Members read(Path file, byte[] content) throws IOException {
        return read(TomlReader.of(file, content));
    }

    private static Members read(TomlReader toml) throws IOException {
        List<Member> list = new ArrayList<>();
        for (TomlReader table : toml.tables("member", MAX)) {
            table.require("login", "uid", "gid");
            String login = table.text("login", "someone");
            int uid = table.number("uid", Login.LEAST_ID, Login.LEAST_ID, Login.MOST_ID);
            int gid = table.number("gid", Login.LEAST_ID, Login.LEAST_ID, Login.MOST_ID);
            Optional<String> person =
                    table.has("person") ? Optional.of(table.text("person", "someone")) : Optional.empty();
            if (!table.has("login") || !table.has("uid")) {
                continue;
            }
            try {
                add(list, new Member(login, uid, gid, person));
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
}

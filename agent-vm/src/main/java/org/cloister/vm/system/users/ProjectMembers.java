package org.cloister.vm.system.users;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.cloister.daemon.TomlReader;
import org.cloister.protocol.handover.LoginRules;

/**
 * A project's members: each login and each uid once, ordered as in their file. {@link PasswdFiles} additionally refuses
 * names of this system.
 */
public record ProjectMembers(List<ProjectMember> list) {
    private static final int MAX = 2000;

    /**
     * Checks the members against each other.
     *
     * @throws IllegalArgumentException if two share a name, uid or person, or one has a name of the system
     */
    public ProjectMembers {
        list = List.copyOf(list);
        Set<String> logins = new HashSet<>();
        Set<Integer> uids = new HashSet<>();
        Set<String> persons = new HashSet<>();
        for (ProjectMember member : list) {
            if (LoginRules.isSystem(member.login())) {
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

    /** Returns the member as whom a person logs in. */
    public Optional<ProjectMember> ofPerson(String id) {
        return list.stream()
                .filter(member -> member.person().filter(id::equals).isPresent())
                .findFirst();
    }

    /**
     * Reads tables {@code [[member]]} of {@code login}, {@code uid}, {@code gid}, and {@code person} if one connects by
     * circuit.
     *
     * @throws org.cloister.daemon.InvalidConfigException with all errors in the file
     */
    public static ProjectMembers load(Path file) throws IOException {
        return read(TomlReader.open(file));
    }

    /**
     * Reads the same tables from bytes.
     *
     * @param file that error messages name
     */
    public static ProjectMembers read(Path file, byte[] content) throws IOException {
        return read(TomlReader.of(file, content));
    }

    private static ProjectMembers read(TomlReader toml) throws IOException {
        List<ProjectMember> list = new ArrayList<>();
        for (TomlReader table : toml.tables("member", MAX)) {
            table.require("login", "uid", "gid");
            String login = table.text("login", "someone");
            int uid = table.number("uid", LoginRules.LEAST_ID, LoginRules.LEAST_ID, LoginRules.MOST_ID);
            int gid = table.number("gid", LoginRules.LEAST_ID, LoginRules.LEAST_ID, LoginRules.MOST_ID);
            Optional<String> person =
                    table.has("person") ? Optional.of(table.text("person", "someone")) : Optional.empty();
            if (!table.has("login") || !table.has("uid")) {
                continue;
            }
            try {
                add(list, new ProjectMember(login, uid, gid, person));
            } catch (IllegalArgumentException e) {
                table.problem("login", String.valueOf(e.getMessage()));
            }
        }
        toml.finish();
        return new ProjectMembers(list);
    }

    /** Checks a member against those before it, so that each line gets its own error. */
    private static void add(List<ProjectMember> list, ProjectMember next) {
        List<ProjectMember> with = new ArrayList<>(list);
        with.add(next);
        new ProjectMembers(with);
        list.add(next);
    }
}

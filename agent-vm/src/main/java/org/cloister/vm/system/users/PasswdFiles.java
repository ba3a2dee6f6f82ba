package org.cloister.vm.system.users;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.cloister.base.file.WorldReadableFile;

/**
 * {@code passwd} and {@code group}: the system's own lines unchanged, followed by the members' lines. A mark identifies
 * members' lines, so that a member who left is removed. A member has no password, and logs in with a key.
 */
public final class PasswdFiles {
    private static final String MARK = "Cloister member";
    /** Mark in a group's password field, which no crypt(3) result equals. */
    private static final String GROUP_MARK = "!cloister";

    private static final long MAX_BYTES = 4 << 20;

    private final Path folder;
    private final Function<String, Path> homes;

    /**
     * Creates the writer.
     *
     * @param folder {@code /etc}, or the folder that will be bind-mounted there
     * @param homes folder in which {@code MemberHomes} creates the homes
     */
    public PasswdFiles(Path folder, Path homes) {
        this.folder = folder;
        this.homes = homes::resolve;
    }

    /**
     * Creates the writer.
     *
     * @param homes by login, of each member
     */
    public PasswdFiles(Path folder, Map<String, Path> homes) {
        this.folder = folder;
        this.homes = login -> Objects.requireNonNull(homes.get(login), login);
    }

    /**
     * Replaces each file atomically, group first, so that every uid has a group.
     *
     * @throws IOException if a member has a name or number of the system, and nothing was changed; or a file cannot be
     *     read or written
     */
    public void write(ProjectMembers members) throws IOException {
        List<String> users = systemLines("passwd", PasswdFiles::isMember);
        List<String> groups = systemLines("group", line -> field(line, 1).equals(GROUP_MARK));
        Map<Integer, List<ProjectMember>> byGroup = members.list().stream()
                .collect(Collectors.groupingBy(ProjectMember::gid, TreeMap::new, Collectors.toList()));
        for (ProjectMember member : members.list()) {
            requireFree(users, "passwd", member.login(), member.uid());
        }
        List<String> own = new ArrayList<>();
        byGroup.forEach((gid, list) -> own.add(group(gid, list)));
        for (String line : own) {
            requireFree(groups, "group", field(line, 0), Integer.parseInt(field(line, 2)));
        }
        groups.addAll(own);
        members.list().forEach(member -> users.add(user(member)));
        replace("group", groups);
        replace("passwd", users);
    }

    private String user(ProjectMember member) {
        return String.join(
                ":",
                member.login(),
                "*",
                String.valueOf(member.uid()),
                String.valueOf(member.gid()),
                MARK,
                homes.apply(member.login()).toString(),
                "/bin/bash");
    }

    /** Returns the group's line; the group is named after the member with the lowest uid. */
    private static String group(int gid, List<ProjectMember> members) {
        List<ProjectMember> ordered = members.stream()
                .sorted(Comparator.comparingInt(ProjectMember::uid))
                .toList();
        return ordered.get(0).login() + ":" + GROUP_MARK + ":" + gid + ":"
                + ordered.stream().map(ProjectMember::login).collect(Collectors.joining(","));
    }

    private static void requireFree(List<String> lines, String file, String name, int id) throws IOException {
        for (String line : lines) {
            if (field(line, 0).equals(name) || field(line, 2).equals(String.valueOf(id))) {
                throw new IOException("member " + name + ": want a name and number that " + file
                        + " does not have, have " + field(line, 0) + ", " + field(line, 2));
            }
        }
    }

    /** Returns whether the line is a member's; chfn adds its fields after a comma. */
    private static boolean isMember(String line) {
        return field(line, 4).equals(MARK) || field(line, 4).startsWith(MARK + ",");
    }

    private interface LinePredicate {
        boolean test(String line);
    }

    private List<String> systemLines(String name, LinePredicate isMembers) throws IOException {
        Path file = folder.resolve(name);
        if (Files.size(file) > MAX_BYTES) {
            throw new IOException(file + ": want at most " + MAX_BYTES + " bytes, have " + Files.size(file));
        }
        // Bytes unchanged: lines that others wrote may be in any charset.
        List<String> kept = new ArrayList<>();
        for (String line : Files.readAllLines(file, StandardCharsets.ISO_8859_1)) {
            if (!isMembers.test(line)) {
                kept.add(line);
            }
        }
        return kept;
    }

    private void replace(String name, List<String> lines) throws IOException {
        WorldReadableFile.replace(
                folder.resolve(name), (String.join("\n", lines) + "\n").getBytes(StandardCharsets.ISO_8859_1));
    }

    private static String field(String line, int index) {
        String[] fields = line.split(":", -1);
        return index < fields.length ? fields[index] : "";
    }
}

package org.cloister.vm.controller.members;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.cloister.protocol.handover.LoginRules;
import org.cloister.vm.system.users.ProjectMember;
import org.cloister.vm.system.users.ProjectMembers;

/**
 * Present and past owners of the UIDs on one drive. The files of a member who left remain and belong to a number:
 * another person with that number would own them.
 *
 * @param logins by UID
 */
public record UidHistory(SortedMap<Integer, String> logins) {
    private static final Pattern LINE = Pattern.compile("([1-9][0-9]{3,4}) (" + LoginRules.FORM + ")");

    public UidHistory {
        logins = new TreeMap<>(logins);
    }

    public static UidHistory none() {
        return new UidHistory(new TreeMap<>());
    }

    /**
     * Parses {@link #text}.
     *
     * @param file named in error messages
     */
    public static UidHistory parse(Path file, String text) throws IOException {
        SortedMap<Integer, String> logins = new TreeMap<>();
        int number = 0;
        for (String line : text.lines().toList()) {
            number++;
            Matcher found = LINE.matcher(line);
            if (!found.matches() || logins.put(Integer.parseInt(found.group(1)), found.group(2)) != null) {
                throw new IOException(file + ":" + number
                        + ": want a new uid and its login, have another line; without this file the owners of the"
                        + " drive's files are unknown");
            }
        }
        return new UidHistory(logins);
    }

    /** Returns one line per UID, as {@link #parse} reads it. */
    public String text() {
        StringBuilder text = new StringBuilder();
        logins.forEach(
                (uid, login) -> text.append(uid).append(' ').append(login).append('\n'));
        return text.toString();
    }

    /** Returns the members who would get another person's UID, or have a different one than before. */
    public List<String> problems(ProjectMembers members) {
        List<String> problems = new ArrayList<>();
        for (ProjectMember member : members.list()) {
            String owner = logins.get(member.uid());
            if (owner != null && !owner.equals(member.login())) {
                problems.add("uid of " + member.login() + ": want one that nobody else had, have " + member.uid()
                        + ", which was " + owner + "'s");
            }
            logins.forEach((uid, login) -> {
                if (login.equals(member.login()) && uid != member.uid()) {
                    problems.add("uid of " + login + ": want " + uid + ", which owns the member's files, have "
                            + member.uid());
                }
            });
        }
        return problems;
    }

    /** Returns these owners and the members. */
    public UidHistory with(ProjectMembers members) {
        SortedMap<Integer, String> all = new TreeMap<>(logins);
        members.list().forEach(member -> all.put(member.uid(), member.login()));
        return new UidHistory(all);
    }
}

package org.cloister.preflight;

import java.io.IOException;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Settings with which libvirt runs each QEMU, as its file has them. A setting may occur twice: then each must be right,
 * whichever libvirt uses.
 */
public final class QemuSettings {
    /** The file on every distribution. */
    public static final String FILE = "/etc/libvirt/qemu.conf";

    static final String CGROUPS = "cgroup_controllers";
    /** Value of {@link #CGROUPS} with which libvirt makes no cgroups for QEMU. */
    static final String NONE = "[]";

    private static final String ADDED =
            "# Written by agentctl host prepare: agent-host moves QEMU into its job's cgroup.";
    /** The last line end is that of Windows. */
    private static final Pattern CRLF = Pattern.compile("\r\n[^\n]*\\z");

    private final String text;
    private final List<QemuSettingsParser.Setting> settings;

    private QemuSettings(String text, List<QemuSettingsParser.Setting> settings) {
        this.text = text;
        this.settings = settings;
    }

    /** @throws IOException if a list or a text is not closed, so that it is unknown what is set */
    public static QemuSettings parse(String text) throws IOException {
        return new QemuSettings(text, new QemuSettingsParser(text).parse());
    }

    /** Returns all values of a setting, each in one form whatever the file's blanks and comments are. */
    List<String> values(String name) {
        return settings.stream()
                .filter(setting -> setting.name().equals(name))
                .map(QemuSettingsParser.Setting::value)
                .toList();
    }

    /** Returns whether libvirt leaves QEMU in the cgroup in which it starts. */
    public boolean hasNoOwnCgroups() {
        return Set.copyOf(values(CGROUPS)).equals(Set.of(NONE));
    }

    /**
     * Returns the file's text with the setting that has libvirt leave QEMU in its cgroup: this text itself if it has
     * it, or else with a line more at its end.
     *
     * @throws IOException if the setting has another value, which is an administrator's
     */
    public String withoutOwnCgroups() throws IOException {
        if (hasNoOwnCgroups()) {
            return text;
        }
        String others = settings.stream()
                .filter(setting ->
                        setting.name().equals(CGROUPS) && !setting.value().equals(NONE))
                .map(setting -> "line " + setting.line() + " has " + CGROUPS + " = " + setting.value())
                .collect(Collectors.joining(", "));
        if (!others.isEmpty()) {
            throw new IOException(others + ", with which libvirt puts QEMU into cgroups of its own; set it to [ ] or"
                    + " remove it by hand, and run this command again");
        }
        String end = CRLF.matcher(text).find() ? "\r\n" : "\n";
        String before = text.isEmpty() || text.endsWith("\n") ? text : text + end;
        return before + ADDED + end + CGROUPS + " = [ ]" + end;
    }
}

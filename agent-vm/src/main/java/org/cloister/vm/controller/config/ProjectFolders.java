package org.cloister.vm.controller.config;

import java.nio.file.Path;
import org.cloister.daemon.TomlReader;

/**
 * Where a project's things lie.
 *
 * @param state a folder of agent-vm's own
 * @param run a folder on tmpfs
 * @param members {@link org.cloister.vm.system.users.ProjectMembers}' file
 * @param homes the folder of all homes
 */
public record ProjectFolders(Path state, Path run, Path members, Path homes) {
    static ProjectFolders read(TomlReader toml) {
        return new ProjectFolders(
                toml.path("state", "/var/lib/cloister/vm"),
                toml.path("run", "/run/cloister"),
                toml.path("members", "/etc/cloister/members.toml"),
                toml.path("homes", "/project/home"));
    }
}

package org.cloister.vm.controller.config;

import java.nio.file.Path;
import org.cloister.daemon.TomlReader;

/**
 * Folders and files of a project.
 *
 * @param state folder of agent-vm
 * @param run folder on tmpfs
 * @param members file of {@link org.cloister.vm.system.users.ProjectMembers}
 * @param homes folder of all homes
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

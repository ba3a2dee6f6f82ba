package org.cloister.host;

import java.nio.file.Path;
import java.time.Duration;
import java.util.regex.Pattern;
import org.cloister.daemon.TomlReader;

/**
 * Table {@code libvirt} of the host's configuration.
 *
 * @param uri of the host's own libvirtd
 * @param pids folder in which libvirt writes each domain's process id, to NAME.pid
 * @param limit time limit of each call
 */
public record HostLibvirtConfig(String uri, Path pids, Duration limit) {
    /** URIs of this machine's libvirtd only: VMs of another machine are in no job step here. */
    private static final Pattern URI = Pattern.compile("qemu:///(system|session)(\\?socket=/[A-Za-z0-9_./-]{1,200})?");

    static HostLibvirtConfig read(TomlReader toml) {
        return new HostLibvirtConfig(
                HostConfig.word(toml, "libvirt.uri", "qemu:///system", URI, "qemu:///system, of this machine"),
                HostConfig.path(toml, "libvirt.pids", "/run/libvirt/qemu"),
                toml.seconds("libvirt.limit", Duration.ofSeconds(30), 1, 600));
    }
}

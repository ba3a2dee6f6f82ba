package org.cloister.packaging;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.condition.DisabledIfSystemProperty;

@Tag("ground")
@Tag("packages")
@Tag("scenario")
@DisabledIfSystemProperty(named = "cloister.turn", matches = "[0-5]|12|7|8|10|11", disabledReason = "not its turn")
class VmInstallationTest extends DaemonInstallationContract {
    private static final String ARCHIVE = "/var/cache/cloister/agent-vm.jsa";

    VmInstallationTest() {
        super(
                "vm",
                "root",
                List.of(),
                List.of(
                        "charon-systemd",
                        "chrony",
                        "e2fsprogs",
                        "iproute2",
                        "libcryptsetup12",
                        "libssl3",
                        "munge",
                        "nfs-common",
                        "nftables",
                        "procps",
                        "slurm-client",
                        "slurmd",
                        "strongswan-swanctl",
                        "systemd"),
                BuiltPackages.VM_DEB,
                BuiltPackages.VM_RPM);
    }

    @Override
    void requireInstalled(DebianRoot root) throws IOException, InterruptedException {
        assertThat(root.has(ARCHIVE)).isTrue();
        assertThat(root.text("getent", "passwd", "cloister-filter")).contains("/usr/sbin/nologin");
        // Without what agent-vm passes it says so and ends for good.
        PackagingCommand.Result filter = root.run("/usr/libexec/cloister/slurm-filter");
        assertThat(filter.status()).as(filter.text()).isEqualTo(78);
        assertThat(filter.text()).contains("expected ADDRESS/BITS RELEASE FILE");
        // What is not made for this Java is refused aloud here, and in silence by the launcher.
        assertThat(root.text(
                        "sh",
                        "-c",
                        "sed 's/-Xshare:auto/-Xshare:on/' " + launcher + " > /tmp/strict; sh /tmp/strict --check"))
                .isEmpty();
    }
}

package org.cloister.packaging;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.condition.DisabledIfSystemProperty;

@Tag("ground")
@Tag("packages")
@Tag("scenario")
@DisabledIfSystemProperty(named = "cloister.turn", matches = "[0-5]|12|6|8|10", disabledReason = "not its turn")
class HostInstallationTest extends DaemonInstallationContract {
    private static final String ARCHIVE = "/var/cache/cloister/agent-host.jsa";

    HostInstallationTest() {
        super("host", BuiltPackages.HOST_DEB, BuiltPackages.HOST_RPM);
    }

    @Override
    void requireInstalled(DebianRoot root) throws IOException, InterruptedException {
        assertThat(root.text("id", "-nG", "cloister-host").strip()).isEqualTo("cloister-host libvirt kvm");
        assertThat(root.text("getent", "group", "cloister")).isNotEmpty();
        assertThat(root.text("stat", "-c", "%a %U %G", "/var/lib/cloister/scratch")
                        .strip())
                .isEqualTo("711 cloister-host cloister-host");
        assertThat(root.has(ARCHIVE)).isTrue();
        assertThat(root.run(
                                "env",
                                "JDK_JAVA_OPTIONS=-Xlog:class+load",
                                "/usr/libexec/cloister/agent-host",
                                "--check",
                                "/etc/cloister/agent-host.toml")
                        .text())
                .contains("org.cloister.host.daemon.AgentHostMain source: shared objects file")
                .contains("org.tomlj.Toml source: shared objects file");
        assertThat(root.text("sh", "-c", "echo odd | /usr/libexec/cloister/agent-host-root 2>/dev/null"))
                .startsWith("refused want take, drain, resume, replace, ticket or number");
    }
}

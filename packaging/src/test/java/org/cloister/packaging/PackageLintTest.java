package org.cloister.packaging;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

@Tag("ground")
class PackageLintTest {
    static List<Path> debs() {
        return List.of(BuiltPackages.DEB, BuiltPackages.RELAY_DEB, BuiltPackages.HOST_DEB, BuiltPackages.VM_DEB);
    }

    static List<Path> rpms() {
        return List.of(BuiltPackages.RPM, BuiltPackages.RELAY_RPM, BuiltPackages.HOST_RPM, BuiltPackages.VM_RPM);
    }

    @ParameterizedTest
    @MethodSource("debs")
    void lintian_has_nothing_to_say_of_the_deb(Path deb) throws IOException, InterruptedException {
        PackagingCommand.require("lintian", "lintian");
        String tags = PackagingCommand.of("lintian", "--allow-root", "--pedantic", "--display-info", deb.toString())
                .text();
        assertThat(tags).isEmpty();
    }

    @ParameterizedTest
    @MethodSource("rpms")
    void rpmlint_has_nothing_to_say_of_the_rpm(Path rpm) throws IOException, InterruptedException {
        PackagingCommand.require("rpmlint", "rpmlint");
        String config = BuiltPackages.ROOT.resolve("packaging/rpmlint.toml").toString();
        String tags =
                PackagingCommand.of("rpmlint", "-c", config, rpm.toString()).text();
        assertThat(tags).contains(" 0 errors, 0 warnings,");
    }

    @Test
    void the_scripts_are_posix() throws IOException, InterruptedException {
        for (String script : new String[] {
            "packaging/target/scripts/agentctl",
            "packaging/target/scripts/make-archive",
            "packaging/src/build/stage",
            "packaging/src/deb/control/postinst",
            "packaging/src/deb/control/prerm",
            "packaging/src/rpm/posttrans",
            "packaging/src/rpm/preun",
            "packaging/src/agentctl/site-serve",
            "packaging/target/scripts/relay/agent-relay",
            "packaging/src/build/stage-relay",
            "packaging/src/deb/relay/postinst",
            "packaging/src/deb/relay/prerm",
            "packaging/src/deb/relay/postrm",
            "packaging/src/rpm/relay/post",
            "packaging/src/rpm/relay/preun",
            "packaging/src/rpm/relay/postun",
            "packaging/src/rpm/relay/posttrans",
            "packaging/target/scripts/host/agent-host",
            "packaging/target/scripts/host/make-archive",
            "packaging/src/agent-host/agent-host-idle",
            "packaging/src/agent-host/agent-host-logs",
            "packaging/src/agent-host/agent-host-root",
            "packaging/src/build/stage-host",
            "packaging/src/deb/host/postinst",
            "packaging/src/deb/host/prerm",
            "packaging/src/deb/host/postrm",
            "packaging/src/rpm/host/post",
            "packaging/src/rpm/host/preun",
            "packaging/src/rpm/host/postun",
            "packaging/src/rpm/host/posttrans",
            "packaging/target/scripts/vm/agent-vm",
            "packaging/target/scripts/vm/make-archive",
            "packaging/src/build/stage-vm",
            "packaging/src/deb/vm/postinst",
            "packaging/src/deb/vm/prerm",
            "packaging/src/deb/vm/postrm",
            "packaging/src/rpm/vm/post",
            "packaging/src/rpm/vm/preun",
            "packaging/src/rpm/vm/postun",
            "packaging/src/rpm/vm/posttrans"
        }) {
            PackagingCommand.of("dash", "-n", BuiltPackages.ROOT.resolve(script).toString())
                    .text();
        }
    }
}

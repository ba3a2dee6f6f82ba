package org.cloister.packaging;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("ground")
class LintTest {
    @Test
    void lintian_has_nothing_to_say_of_the_deb() throws IOException, InterruptedException {
        Command.require("lintian", "lintian");
        String tags = Command.of("lintian", "--allow-root", "--pedantic", "--display-info", Packages.DEB.toString())
                .text();
        assertThat(tags).isEmpty();
    }

    @Test
    void rpmlint_has_nothing_to_say_of_the_rpm() throws IOException, InterruptedException {
        Command.require("rpmlint", "rpmlint");
        String config = Packages.ROOT.resolve("packaging/rpmlint.toml").toString();
        String tags =
                Command.of("rpmlint", "-c", config, Packages.RPM.toString()).text();
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
            "packaging/src/rpm/posttrans"
        }) {
            Command.of("dash", "-n", Packages.ROOT.resolve(script).toString()).text();
        }
    }
}

package org.cloister.lab.guide;

import static org.assertj.core.api.Assertions.assertThat;

import org.cloister.lab.booted.BootedSite;
import org.cloister.lab.scenario.RotatedScenario;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * {@code docs/first-project.md}, typed block by block on a site of machines that boot: from packages to a job's receipt. A whole run
 * of {@code lab/test} that has this as its turn types the site's part, to a host that accepts work.
 */
@Tag("scenario")
@Tag("site")
@Timeout(4800)
@ExtendWith(GuidedSite.Resolver.class)
class FirstProjectGuideTest {
    @Test
    @RotatedScenario(12)
    void its_commands_lead_from_packages_to_a_receipt(GuidedSite guided) throws Exception {
        boolean whole = System.getProperty("cloister.turn", "").isEmpty();
        BootedSite site = whole ? guided.withProject() : guided.withHost();
        assertThat(site.machine("relay").succeed("agentctl relay hosts")).contains("h1.host.site");
        assertThat(site.machine("h1").succeed("systemctl --failed --no-legend")).isBlank();
    }
}

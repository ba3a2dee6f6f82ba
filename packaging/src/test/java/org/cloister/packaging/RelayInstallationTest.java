package org.cloister.packaging;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledIfSystemProperty;

@Tag("ground")
@Tag("packages")
@Tag("scenario")
@DisabledIfSystemProperty(named = "cloister.turn", matches = "[0-5]|12|6|8|9|11", disabledReason = "not its turn")
class RelayInstallationTest extends DaemonInstallationContract {
    private static final int IDLE_KIB = 96 * 1024;
    /** As an operator does it: the site's CA on one machine, here the same, and what it answers on the relay's. */
    private static final String ENROL = """
            set -e
            cd /root && umask 077
            echo 'a passphrase of a test' > pass
            agentctl site init --site ca --key ca.key --secret-fd 3 3< pass
            agentctl site enrol --site ca --key ca.key --role relay --token token --secret-fd 3 r1 3< pass
            agentctl relay join --token token --out request
            agentctl site issue --site ca --key ca.key --secret-fd 3 request 3< pass
            agentctl relay join --token token --out request
            stat -c '%a %U' /var/lib/cloister/relay/relay.key /var/lib/cloister/relay/relay.pem | uniq | grep -qx '600 cloister-relay'
            sed -i 's/^#listen = .*/listen = "127.0.0.1:0"/' /etc/cloister/agent-relay.toml
            """;
    /** As the unit does it, on two CPUs: what more of them cost is the threads' own. */
    private static final String SERVE = """
            install -o cloister-relay -g cloister-relay -m 0750 -d /run/cloister/relay
            taskset -c 0,1 setpriv --reuid cloister-relay --regid cloister-relay --clear-groups --no-new-privs \\
                /usr/libexec/cloister/agent-relay /etc/cloister/agent-relay.toml > /tmp/said 2>&1 &
            until agentctl relay status > /tmp/status 2>&1; do
                kill -0 $! || { cat /tmp/said; exit 1; }
            done
            cat /tmp/status
            sleep 11 # Twice as long as it keeps what its compilers have given back.
            sed -n 's/^VmRSS:/resident/p' /proc/$!/status
            kill $!
            wait $! || echo "ended with $?"
            rm -r /run/cloister
            """;

    RelayInstallationTest() {
        super("relay", BuiltPackages.RELAY_DEB, BuiltPackages.RELAY_RPM);
    }

    @Override
    void requireInstalled(DebianRoot root) {
        // Nothing beside what each daemon has.
    }

    @Test
    void an_enrolled_relay_serves_as_its_user_and_is_small_while_idle() throws IOException, InterruptedException {
        try (DebianRoot root = DebianRoot.unpack("systemd")) {
            root.text("dpkg", "--install", root.copyIn(BuiltPackages.RELAY_DEB), root.copyIn(BuiltPackages.DEB));
            PackagingCommand.Result early = root.run(launcher, configurations.get(0));
            assertThat(early.status()).as(early.text()).isEqualTo(1);
            assertThat(early.text()).contains("/etc/cloister/site.pem: no such file; enrol the relay");

            root.text("sh", "-c", ENROL);
            String output = root.text("sh", "-c", SERVE);
            System.out.println(output);
            assertThat(output).contains("r1.relay.site.cloister.internal").contains("ended with 143");
            Matcher resident = Pattern.compile("resident\\s+(\\d+) kB").matcher(output);
            assertThat(resident.find()).as(output).isTrue();
            assertThat(Integer.parseInt(resident.group(1))).as("KiB resident").isLessThan(IDLE_KIB);
        }
    }
}

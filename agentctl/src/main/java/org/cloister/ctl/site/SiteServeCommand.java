package org.cloister.ctl.site;

import io.netty.channel.EventLoopGroup;
import io.netty.channel.MultiThreadIoEventLoopGroup;
import io.netty.channel.nio.NioIoHandler;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.security.SecureRandom;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.cloister.base.address.HostPort;
import org.cloister.ctl.BuildVersion;
import org.cloister.ctl.ExitCode;
import org.cloister.ctl.authority.AuthorityLinkCredential;
import org.cloister.ctl.authority.CertificateRenewal;
import org.cloister.ctl.key.KeyLocation;
import org.cloister.ctl.key.SigningKeyOptions;
import org.cloister.ctl.output.KeyValueOutput;
import org.cloister.ctl.output.TextTable;
import org.cloister.ctl.relay.RelayAddressConverter;
import org.cloister.ctl.systemd.SystemdUnits;
import org.cloister.ctl.systemd.WritableFolder;
import org.cloister.protocol.dsse.VerificationKey;
import org.cloister.transport.link.AgentLink;
import org.cloister.transport.tls.TlsCredential;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code agentctl site serve}: runs the site's registration authority. */
@Command(
        name = "serve",
        description = "Runs until it is stopped: dials the relays, renews the certificates of hosts and "
                + "relays, keeps the revocation list fresh and delivers it. Prints a line for each "
                + "action; lines with ALARM or error need an administrator. With --install it runs as the unit "
                + "cloister-site-serve.")
final class SiteServeCommand implements Callable<Integer> {
    private final SystemdUnits units;

    @Mixin
    @SuppressWarnings("NullAway.Init")
    private SiteOption at;

    @Option(
            names = "--relay",
            paramLabel = "HOST:PORT",
            converter = RelayAddressConverter.class,
            required = true,
            description = "Address of a relay; once for each relay.")
    @SuppressWarnings("NullAway.Init")
    private List<InetSocketAddress> relays;

    @Option(
            names = "--install",
            description =
                    "Configure the unit cloister-site-serve with these options, keep the passphrase or PIN for it "
                            + "encrypted to this machine, start it, and end; as root.")
    private boolean install;

    @Mixin
    @SuppressWarnings("NullAway.Init")
    private SigningKeyOptions keys;

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli sets these before call
    private CommandSpec spec;

    SiteServeCommand() {
        this(SystemdUnits.ofMachine());
    }

    SiteServeCommand(SystemdUnits units) {
        this.units = units;
    }

    @Override
    public Integer call() throws IOException {
        if (install) {
            installUnit();
            return ExitCode.OK.code();
        }
        SiteCaFolder site = at.open(keys);
        site.close();
        SiteCertificateSigner signer = new SiteCertificateSigner(site);
        if (signer.newestList().isEmpty()) {
            signer.signList(Instant.now());
        }
        AuthorityLinkCredential own = new AuthorityLinkCredential(site.authority(), InstantSource.system());
        try {
            // Fails at the start if no certificate can be issued, since a later attempt would fail too.
            print("desk " + AuthorityLinkCredential.NAME + " with "
                    + VerificationKey.of(own.get().chain().get(0).getPublicKey()));
            serve(signer, own, relays);
        } catch (UncheckedIOException e) {
            throw new IOException("certificate of this service: " + e.getMessage(), e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        return ExitCode.OK.code();
    }

    private void installUnit() throws IOException {
        SiteServeUnit unit = new SiteServeUnit(units);
        unit.requireInstalled();
        WritableFolder site = WritableFolder.of(at.folder());
        units.requireVisible(site, SiteServeUnit.NAME);
        KeyLocation.File usual = SiteCaFolder.keyFile(site.path());
        String configuration = SiteServeUnit.configuration(
                site,
                usual,
                keys.location(() -> usual),
                relays.stream().map(HostPort::text).toList());
        try (SigningKeyOptions.OpenedKey opened = keys.openWithSecret(() -> usual)) {
            SiteCaFolder.open(site.path(), opened.key()).close();
            KeyValueOutput facts = unit.install(site, configuration, opened.secret());
            spec.commandLine().getOut().print(facts.table());
            spec.commandLine().getOut().flush();
        }
    }

    private void serve(SiteCertificateSigner signer, Supplier<TlsCredential> own, List<InetSocketAddress> addresses)
            throws InterruptedException {
        EventLoopGroup loops = new MultiThreadIoEventLoopGroup(1, NioIoHandler.newFactory());
        List<AgentLink> links = new ArrayList<>();
        try (CertificateRenewal renewal = new CertificateRenewal(signer, InstantSource.system(), this::print)) {
            for (InetSocketAddress each : addresses) {
                AgentLink.Settings terms = new AgentLink.Settings(
                        List.of(each), own, trust -> trust, signer.trustStore(), "agentctl " + BuildVersion.current());
                links.add(new AgentLink(loops, terms, renewal.forRelay(HostPort.text(each)), new SecureRandom()));
            }
            new CountDownLatch(1).await();
        } finally {
            links.forEach(AgentLink::close);
            loops.shutdownGracefully(0, 1, TimeUnit.SECONDS).syncUninterruptibly();
        }
    }

    private void print(String line) {
        PrintWriter out = spec.commandLine().getOut();
        out.println(Instant.now().truncatedTo(ChronoUnit.SECONDS) + " " + TextTable.escapeControls(line));
        out.flush();
    }
}

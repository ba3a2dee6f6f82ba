package org.cloister.lab.demo;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.cloister.lab.Lab;
import org.cloister.lab.project.ProjectFixture;
import org.cloister.lab.site.MarkerSearch;
import org.cloister.lab.site.WorkingSite;
import org.cloister.lab.wire.FrameSocket;
import org.cloister.lab.wire.Wiretap;

/**
 * Searches for the data's marker from the first frame on; the marker is in the matrix, the script, its name and its
 * comment.
 */
final class MarkerSearches implements AutoCloseable {
    private final Lab lab;
    private final Wiretap loopback;
    private final Wiretap trunk;
    private final List<Wiretap> cables = new ArrayList<>();

    /** Starts to listen at once. */
    MarkerSearches(Lab lab) throws IOException {
        this.lab = lab;
        this.loopback = new Wiretap(List.of(FrameSocket.open(Path.of("/proc/self/ns/net"), "lo")));
        this.trunk = Wiretap.trunk(lab);
    }

    /** Adds the wiretap of a controlling VM's cable; its owner closes it. */
    void add(Wiretap cable) {
        cables.add(cable);
    }

    /** @param ticket of the job, which the site may know: finding it shows that the search works */
    void claim(ProjectFixture project, String ticket, DemoClaims claims) throws IOException {
        long clear = cables.stream().mapToLong(Wiretap::clear).sum();
        long encrypted = cables.stream().mapToLong(Wiretap::encrypted).sum();
        long strange = cables.stream().mapToLong(Wiretap::strange).sum();
        claims.require(
                loopback.clear() + trunk.clear() + clear == 0,
                "nothing of the data was on a wire",
                "loopback between devices and relay; the trunk between the hosts, with " + trunk.encrypted()
                        + " frames of ESP; the controlling VM's cable, with " + encrypted
                        + ": the data's marker in 0 frames");
        claims.require(
                strange == 0 && encrypted > 0,
                "the controlling VM's cable carries ARP, IKE and ESP alone",
                strange + " other frames");
        MarkerSearch known = new MarkerSearch(ticket);
        MarkerSearch data = new MarkerSearch(MatrixJob.MARKER);
        List<Path> folders = project.site().folders();
        nothing(
                data.files(folders, "console.log"),
                known.files(lab.slurm().folders()),
                "nothing of the data is on a disk of relay, hosts or Global Slurm",
                claims);
        nothing(
                data.memory(WorkingSite.DAEMONS),
                known.memory(WorkingSite.DAEMONS),
                "nothing of the data is in the memory of the site's daemons",
                claims);
        claims.require(
                !lab.slurm().accountingRows().contains(MatrixJob.MARKER),
                "Global Slurm's accounting knows nothing of the job but its sizes and times",
                "its database's rows of jobs, without the marker");
    }

    private static void nothing(Set<String> found, Set<String> known, String claim, DemoClaims claims)
            throws IOException {
        claims.require(
                found.isEmpty() && !known.isEmpty(),
                claim,
                "the data's marker in " + found.size() + " places" + (found.isEmpty() ? "" : " " + found)
                        + "; the ticket's id, which they may know, in " + known.size());
    }

    @Override
    public void close() {
        loopback.close();
        trunk.close();
    }
}

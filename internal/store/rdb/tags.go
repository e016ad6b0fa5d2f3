package rdb

// tagWords are the hash tags of all 512 partitions that a database can have, by number.
//
// The order of the table is part of the stored format. Partition p has the same tag in every
// database with more than p partitions, so that doubling the number of partitions renames no key.
// The slots are in bit-reversed order: the slot of tag p is in the middle of the range of 32 slots
// whose number is p with its nine bits reversed. The first P tags, for P a power of two, are
// therefore one in each of P equal ranges, and nodes with contiguous ranges get equal shares.
const tagWords = `
lvb vzl 8hp vkn x97 ctq hkm klk mwb g84 tmh 2gn ppg c49 pnd 6kc
9ks whm 9zq nrg 5nf bfp prd bwr dcz 3dm d9q f46 qbf cgp hxl bs2
274 mr2 ghn th8 k8q pz6 cdc pd5 23t mvr 4hs mgp kx9 pqw rb3 4h5
fkm 9jc nsw l59 jnx qg6 bvb h94 nf5 dmk nw7 dsh jj8 qcv sp2 qrt
xd4 cmz 4tn c8p dfq vcg 85s v6m pfm zb2 pxn cx8 8d9 gj6 ttc gt5
5wm jvc xbw ck9 d58 fsv 9cz fbt h4m 7qk hnf bj9 9v8 fw6 ddr ff4
clj hbt ktp p96 vbw mk9 g5m tq3 6bz hf4 k48 xpf vf7 tdq vw5 mqz
jws hz4 jfq hd7 frf 9sh fcd 9bj js3 565 kgq fgb wt6 l9p 3mt llz
ptc ct5 xcx cj6 msf gx8 mbd 2cj 4xc r6m xh9 rcg lrf g8p 8lt gmz
hmj bf4 q3h bw6 9k7 fj9 l4m 3qk 5jb bbt p2h bsv 8j7 gk9 d95 nvc
k85 x8c rf7 pdq 2sx mrv 2bz mct c5m pq3 rbw 4hq 2w8 mv6 glj mg4
7mt hlz st6 h9p wf8 dfn ns3 dxm bcd qc2 brf q68 nfq ld7 nws lz4
mjm 2kc tpg g49 pmh zf6 p8b c84 lkm vgc dsw gtq qlh rkn xq2 kqd
dqt fs2 jgc ggp qph b46 qnk 7dm 92t fwr dd6 ffp xwq jrg 5bk shm
vb3 9dm v79 tqw kj7 plx kt4 p9r gdc td5 vwq drg chn ph8 kpt 4qz
wp2 dpd nj8 dng jw7 5v9 jf5 hds fvb l94 nnx 9fn jsw h59 bkm xgc
8hq vdn lvc f95 hkl 7jb hzn b58 dj9 nnf 9xs n4m 5ld bdr 59n s3h
849 2tn mdb ncd p6m cr3 pcg zh9 d9p vxn 8jr vfm hxm cvs qbg cgq
nd7 lfq nz4 lws sc2 pd4 s68 qpv ffn mgq fxm ls3 jlz 5mt j9p qt6
v96 mtp fkl tnz rq3 xzm kk9 pbw 256 m48 gjl 8kb cwc pw5 rdq pf7
hrg bv8 qhm 7bk dwr fz5 dfp fd6 xqw b9q 5dm snk ds2 fqt mnh wbf
pkn ck8 pzl zq2 mlk gg5 8w9 gv7 xf6 rmh xw4 kwb dds ff5 87q grw
j59 hsw clk hmt n94 dvb wg6 lnx 7v9 hw7 bmk hf5 fpd 9qj wcv lj8
rh8 xcf kr2 xrd vd5 tfs frg m8q cnh 2hs kvr 43t 2h5 tb3 gsg mx9
xlx sbf ptb bqt 8h5 wnk d46 f9q xh8 bd6 hqk bz5 lld 3bk lrg fv8
xt8 crw 4kc kjm lpd v8b 8nv vmh xpx cv7 pgc cg5 mqd 2pj tkn gk8
scv hj8 bpd qp2 fmk lf5 3v9 lw7 sg6 hnx j94 qtr glk dkm n59 lsw
csg p79 6h5 pb3 v9r mt4 gnh mj7 brg pwq rd5 pfs 2qz mpt vh8 ld6
dw6 w3h df4 fdr 5qk j4m xdq jnf dsv f58 dbt 3jb hvc b95 qch zbw
lfn ggq lxm gvs xb2 kbd x78 ksf tcg ffq t6m gr3 xfr zd4 xwp 6tn
n9p l47 nlz 9dl bxm hs3 bfn qf8 w68 drf wc2 dcd jz4 hws jd7 hfq
vdq tf7 gwc m85 cjl 4bz krv 4sx 2hq tbw vq3 l95 kg4 pnz kv6 x2h
`

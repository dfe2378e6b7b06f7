
*€x€€Bhalf